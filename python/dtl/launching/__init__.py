"""Functions on ranks that this process starts: ``dtl.launch`` and ``dtl.Ranks``.

``ranks`` is what a program calls, ``job`` starts the processes and waits for them, ``worker`` is what they run,
``channel`` what both say to each other, ``transport`` how functions and results travel, and ``failures`` how exceptions
do.
"""
