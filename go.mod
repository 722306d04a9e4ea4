module dtl

go 1.26
