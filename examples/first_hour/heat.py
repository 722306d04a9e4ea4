"""Heat that spreads through a plate with cold edges: ``heat.py 2000 200 plate.png``, for the size and the steps."""

import sys

import dtl

size, steps, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

with dtl.Context() as ctx:
    plate = dtl.zeros(ctx, (size, size))
    plate[size // 4 : size // 2, size // 4 : size // 2] = 100
    halo = dtl.Halo(plate, 1)
    local, u = plate.local_view(), halo.view()
    for _ in range(steps):
        halo.exchange()
        local += 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * local)
    whole = plate.gather_to(root=0)
    if ctx.is_root:
        from matplotlib import pyplot

        pyplot.imsave(path, whole, cmap="inferno")
        print(f"mean {whole.mean():.6f}, largest {whole.max():.6f}")
