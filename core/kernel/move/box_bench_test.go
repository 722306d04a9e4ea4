package move_test

import (
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/kernel/move"
)

func huge(b *testing.B, n int) unsafe.Pointer {
	p, err := unix.Mmap(-1, 0, n+4<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	_ = unix.Madvise(p, unix.MADV_HUGEPAGE)
	clear(p)
	at := uintptr(unsafe.Pointer(&p[0]))
	return unsafe.Pointer(&p[(-at)&(2<<20-1)])
}

func BenchmarkTranspose(b *testing.B) {
	for _, n := range []int{1000, 2000, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src, dst := huge(b, n*n*8), huge(b, n*n*8)
			b.SetBytes(int64(n * n * 8))
			s := int64(n) * 8
			for range b.N {
				move.CopyBox(dst, []int64{s, 8}, src, []int64{8, s}, []int64{int64(n), int64(n)}, 8)
			}
		})
	}
}
