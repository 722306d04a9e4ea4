"""Linear algebra on containers, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from refusals import ARGUMENT, TYPE, refused
from test_numbers_axes import grids, tensor

import dtl
from dtl import linalg
from dtl.containers import interior
from dtl.linalg import LinAlgError, squares, tall

KINDS = ("float64", "float32", "complex128", "int64")

#: Shapes that divide among ranks and that do not: tall, square, wide, with more and with fewer rows than ranks.
SHAPES = ((12, 4), (300, 7), (7, 7), (3, 8), (2, 1), (1, 1), (150, 130), (70, 200))


def numbers(shape: tuple[int, ...], kind: str = "float64", seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    if kind == "int64":
        return rng.integers(-9, 10, shape)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape)).astype(kind) if kind[0] == "c" else values.astype(kind)


def gathered(c: Any) -> Any:
    """Return the whole on every rank."""
    if not isinstance(c, dtl.DistributedContainer):
        return np.asarray(c)
    whole = c[...].gather_to(0)  # type: ignore[index]
    return dtl.broadcast(c.context, whole, 0)


def close(got: Any, want: Any, kind: str = "float64") -> None:
    """Compare dtype, shape and values, within rounding."""
    whole, want = gathered(got), np.asarray(want)
    assert whole.dtype == want.dtype
    assert whole.shape == want.shape
    limit = 2e-4 if np.dtype(kind) == np.float32 else 1e-8
    np.testing.assert_allclose(whole, want, rtol=limit, atol=limit * max(1.0, float(np.abs(want).max(initial=0))))


def hows(ctx: dtl.Context, rows: int) -> list[dict[str, Any]]:
    """Return the keywords of every way to divide a matrix."""
    return [division(name, rows, ctx.size) for name in DIVISIONS] + [{"grid": grid} for grid in grids(ctx.size, 2)]


def is_on_every_rank(c: Any) -> bool:
    return bool(c.partition_policy.name == "REPLICATED")


@pytest.fixture(params=["all ranks", "rank 0"])
def decomposed_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who decomposes matrices that are not tall: the size of those of rank 0 is changed for it."""
    from dtl.linalg import tall

    monkeypatch.setattr(tall, "MOST_FOR_ONE", 0 if request.param == "all ranks" else 1024)
    return str(request.param)


@pytest.mark.usefixtures("decomposed_by")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(ctx: dtl.Context, shape: tuple[int, int], kind: str) -> None:
    whole = numbers(shape, kind)
    q, r = linalg.qr(tensor(ctx, whole))
    assert is_on_every_rank(r)
    want_q, want_r = np.linalg.qr(whole)
    signs = np.diagonal(want_r) / np.abs(np.diagonal(want_r))
    close(q, want_q * signs, kind)
    close(r, signs.conj()[:, None] * want_r, kind)
    np.testing.assert_array_equal(np.tril(r.local_view(), -1), 0)
    close(linalg.qr(tensor(ctx, whole), mode="r"), signs.conj()[:, None] * want_r, kind)
    q, r = linalg.qr(tensor(ctx, whole), "complete")
    assert (q.shape, r.shape) == ((shape[0], shape[0]), shape)
    close(q @ r, whole.astype(q.dtype), kind)
    close(gathered(q).conj().T @ gathered(q), np.eye(shape[0], dtype=q.dtype), kind)
    close(gathered(r)[: min(shape)], signs.conj()[:, None] * want_r, kind)


@pytest.mark.usefixtures("decomposed_by")
def test_qr_of_every_division(ctx: dtl.Context) -> None:
    whole = numbers((40, 6))
    want = np.abs(np.linalg.qr(whole)[1])
    for how in hows(ctx, 40):
        result = linalg.qr(tensor(ctx, whole, **how))
        close(result.Q @ result.R, whole)
        np.testing.assert_allclose(np.abs(result.R.local_view()), want, atol=1e-12)
    span: Any = dtl.DistributedSpan(tensor(ctx, whole)).subspan(3, 30)
    close(linalg.qr(span).Q @ linalg.qr(span).R, whole[3:33])


@pytest.mark.usefixtures("decomposed_by")
@pytest.mark.parametrize("columns", [5, 100])
def test_qr_of_columns_that_depend_on_each_other(ctx: dtl.Context, columns: int) -> None:
    whole = numbers((130, columns))
    whole[:, -1] = whole[:, 0]
    whole[:, columns // 2] = 0
    q, r = linalg.qr(tensor(ctx, whole))
    close(q @ r, whole)
    close(np.conjugate(linalg.matrix_transpose(q)) @ q, np.eye(columns))


@pytest.mark.usefixtures("decomposed_by")
@pytest.mark.parametrize("name", ["zeros", "the same column", "few rows", "zeros after", "columns of the identity"])
@pytest.mark.parametrize("shape", [(130, 100), (70, 65), (100, 130)])
def test_decompositions_of_what_leaves_nothing(ctx: dtl.Context, shape: tuple[int, int], name: str) -> None:
    """Panels of columns that depend exactly on those before them: nothing is left, not even rounding."""
    whole = np.zeros(shape)
    if name == "the same column":
        whole[:] = np.arange(1.0, shape[0] + 1)[:, np.newaxis]
    elif name == "few rows":
        whole[:3] = numbers((3, shape[1]))
    elif name == "zeros after":
        whole[:, :64] = numbers((shape[0], 64))
    elif name == "columns of the identity":
        whole[:64, :64] = np.eye(64)
        whole[:64, 64:65] = 1
    k = min(shape)
    q, r = linalg.qr(tensor(ctx, whole))
    close(q @ r, whole)
    close(np.conjugate(linalg.matrix_transpose(q)) @ q, np.eye(k))
    u, s, vh = (gathered(c) for c in linalg.svd(tensor(ctx, whole), full_matrices=False))
    close((u * s) @ vh, whole)
    close(u.T @ u, np.eye(k))
    close(vh @ vh.T, np.eye(k))


@pytest.mark.usefixtures("decomposed_by")
def test_qr_of_ill_conditioned_columns(ctx: dtl.Context) -> None:
    whole = np.vander(np.linspace(0, 1, 200), 100)
    q, _ = linalg.qr(tensor(ctx, whole))
    close(linalg.matrix_transpose(q) @ q, np.eye(100))


def test_qr_in_pieces(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    from dtl.linalg import tall

    monkeypatch.setattr(tall, "_PIECE", 64)
    whole = numbers((1000, 5))
    q, r = linalg.qr(tensor(ctx, whole))
    close(q @ r, whole)
    close(linalg.matrix_transpose(q) @ q, np.eye(5))


@pytest.mark.usefixtures("decomposed_by")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(ctx: dtl.Context, shape: tuple[int, int], kind: str) -> None:
    whole = numbers(shape, kind)
    want = np.linalg.svd(whole, full_matrices=False)[1]
    for full in (False, True):
        u, s, vh = linalg.svd(tensor(ctx, whole), full_matrices=full)
        close(s, want, kind)
        k = min(shape)
        u, vh = gathered(u), gathered(vh)
        assert (u.shape, vh.shape) == ((shape[0], shape[0] if full else k), (shape[1] if full else k, shape[1]))
        close((u[:, :k] * gathered(s)) @ vh[:k], whole.astype(u.dtype), kind)
        close(u.conj().T @ u, np.eye(u.shape[1], dtype=u.dtype), kind)
        close(vh @ vh.conj().T, np.eye(vh.shape[0], dtype=u.dtype), kind)
    close(linalg.svdvals(tensor(ctx, whole)), want, kind)
    close(linalg.svd(tensor(ctx, whole), compute_uv=False), want, kind)


def test_singular_vectors_do_not_depend_on_the_ranks(ctx: dtl.Context) -> None:
    whole = numbers((60, 5))
    u, _, vh = np.linalg.svd(whole, full_matrices=False)
    signs = np.sign(vh[np.arange(5), np.abs(vh).argmax(axis=1)])
    for how in hows(ctx, 60):
        got = linalg.svd(tensor(ctx, whole, **how), full_matrices=False)
        close(got.U, u * signs)
        close(got.Vh, vh * signs[:, None])


def test_ranks_and_conditions(ctx: dtl.Context) -> None:
    for shape in SHAPES:
        whole = numbers(shape)
        assert linalg.matrix_rank(tensor(ctx, whole)) == np.linalg.matrix_rank(whole)
        close(linalg.cond(tensor(ctx, whole)), np.linalg.cond(whole))
    low = numbers((40, 3)) @ numbers((3, 20))
    assert linalg.matrix_rank(tensor(ctx, low)) == 3
    assert linalg.matrix_rank(tensor(ctx, low), tol=1e9) == 0
    assert linalg.matrix_rank(tensor(ctx, np.zeros((4, 3)))) == 0
    assert linalg.cond(tensor(ctx, np.diag([1.0, 0.0]))) == np.inf


@pytest.mark.usefixtures("decomposed_by")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_pinv(ctx: dtl.Context, shape: tuple[int, int], kind: str) -> None:
    whole = numbers(shape, kind)
    close(linalg.pinv(tensor(ctx, whole)), np.linalg.pinv(whole), kind)
    low = numbers((shape[0], 1), kind) @ numbers((1, shape[1]), kind)
    close(linalg.pinv(tensor(ctx, low)), np.linalg.pinv(low, 1e-5), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_lstsq(ctx: dtl.Context, shape: tuple[int, int], kind: str) -> None:
    whole = numbers(shape, kind)
    for right in (numbers(shape[:1], kind, 2), numbers((shape[0], 3), kind, 3)):
        limit = max(shape) * float(np.finfo(np.linalg.svd(whole)[1].dtype).eps)
        want = np.linalg.lstsq(whole, right, rcond=limit)
        got = linalg.lstsq(tensor(ctx, whole), tensor(ctx, right))
        for one, other in zip(got, want):
            close(one, other, kind) if isinstance(one, dtl.DistributedContainer) else np.testing.assert_equal(
                one, other
            )
        assert is_on_every_rank(got[0])
        assert isinstance(got[2], int)


def test_lstsq_of_other_divisions_and_low_rank(ctx: dtl.Context) -> None:
    whole, right = numbers((40, 6)), numbers((40,), seed=5)
    want = np.linalg.lstsq(whole, right, rcond=None)[0]
    for how, name in itertools.product(hows(ctx, 40), DIVISIONS):
        close(linalg.lstsq(tensor(ctx, whole, **how), vector(ctx, right, name))[0], want)
    whole[:, 0] = whole[:, 1]
    want_x, none, rank, _ = np.linalg.lstsq(whole, right, rcond=1e-10)
    got = linalg.lstsq(tensor(ctx, whole), vector(ctx, right), rcond=1e-10)
    close(got[0], want_x)
    assert got[1].shape == none.shape == (0,)
    assert got[2] == rank == 5


SQUARES = (1, 2, 7, 64, 257, 300)


def well(n: int, kind: str) -> Any:
    """Return a square matrix that is far from singular, and needs pivots."""
    whole = numbers((n, n), kind)
    whole[np.arange(n), np.arange(n)[::-1]] += np.array(3 * int(np.sqrt(n)) + 3, whole.dtype)
    return whole


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SQUARES)
def test_solutions_and_inverses(ctx: dtl.Context, n: int, kind: str) -> None:
    whole = well(n, kind)
    a = tensor(ctx, whole)
    for right in (numbers((n,), kind, 2), numbers((n, 3), kind, 3)):
        close(linalg.solve(a, tensor(ctx, right)), np.linalg.solve(whole, right), kind)
    close(linalg.inv(a), np.linalg.inv(whole), kind)
    close(linalg.slogdet(a).sign, np.linalg.slogdet(whole)[0], kind)
    close(linalg.slogdet(a).logabsdet, np.linalg.slogdet(whole)[1], kind)
    if n < 10:
        np.testing.assert_allclose(linalg.det(a), np.linalg.det(whole), rtol=1e-3)


def test_solutions_of_every_division(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squares, "_SMALL", 4)
    whole, right = well(70, "float64"), numbers((70,))
    for how, name in zip(itertools.cycle(hows(ctx, 70)), [*DIVISIONS, *DIVISIONS]):
        a = tensor(ctx, whole, **how)
        close(linalg.solve(a, vector(ctx, right, name)), np.linalg.solve(whole, right))
        close(linalg.inv(a), np.linalg.inv(whole))
        close(linalg.det(a) / np.linalg.det(whole), np.float64(1.0))
        close(a, whole)


def test_solutions_without_scipy(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squares, "_factor_panel", squares._factor_by_halves)
    monkeypatch.setattr(squares, "_SMALL", 4)
    for n in (5, 64, 150):
        whole = well(n, "float64")
        close(linalg.inv(tensor(ctx, whole)), np.linalg.inv(whole))
        close(linalg.slogdet(tensor(ctx, whole)).logabsdet, np.linalg.slogdet(whole)[1])
    whole[:, 70] = 0
    refused(lambda: linalg.inv(tensor(ctx, whole)), LinAlgError, 110, "Singular matrix")


@pytest.mark.parametrize("n", [3, 300])
def test_singular_matrices(ctx: dtl.Context, n: int) -> None:
    whole = np.zeros((n, n))
    whole[: n - 1, : n - 1] = np.eye(n - 1)
    a = tensor(ctx, whole)
    for call in (linalg.inv, lambda m: linalg.solve(m, m)):
        error = refused(lambda f=call: f(a), LinAlgError, 110, "Singular matrix")  # type: ignore[misc]
        assert isinstance(error, np.linalg.LinAlgError)
    assert issubclass(LinAlgError, dtl.InvalidArgumentError)
    assert linalg.det(a) == 0
    assert linalg.slogdet(a) == (0, -np.inf)
    refused(lambda: linalg.cholesky(a), LinAlgError, 110, "not positive definite")


def test_which_matrices_are_singular_does_not_depend_on_the_ranks(ctx: dtl.Context) -> None:
    """Pivots are rounded: which of these has one of zero is NumPy's."""
    chance = np.random.default_rng(7)
    for n in (2, 3, 4, 5) * 8:
        whole = chance.integers(-5, 6, (n, n)).astype(np.float64)
        whole[-1] = chance.integers(-3, 4, n - 1) @ whole[:-1]
        a = tensor(ctx, whole)
        try:
            wanted = np.linalg.inv(whole)
        except np.linalg.LinAlgError:
            refused(lambda a=a: linalg.inv(a), LinAlgError, 110, "Singular matrix")  # type: ignore[misc]
        else:
            assert linalg.inv(a).shape == wanted.shape


@pytest.mark.parametrize("n", [3, 300])
def test_tiny_pivots_are_not_zero(ctx: dtl.Context, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squares, "_SMALL", 2)
    if ctx.size == 1:
        pytest.skip("NumPy, which computes on one rank, exchanges rows, and underflows; runs on several ranks")
    tiny = 2.0**-540
    whole = np.eye(n)
    whole[0, 0] = whole[2, 2] = tiny
    whole[2, 0] = 1
    right, solution = np.ones(n), np.ones(n)
    right[0], solution[2] = tiny, 0
    for exponent in (-400, 0, 400):  # all that follows is exact
        a = tensor(ctx, np.ldexp(whole, exponent))
        solved = linalg.solve(a, vector(ctx, right, "BLOCK"))
        np.testing.assert_array_equal(gathered(solved), np.ldexp(solution, -exponent))
        sign, logarithm = linalg.slogdet(a)
        assert sign == 1
        assert np.isclose(logarithm, (n * exponent - 1080) * np.log(2), rtol=1e-12)
    inverse = np.eye(n)
    inverse[0, 0] = inverse[2, 2] = 1 / tiny
    inverse = np.ldexp(inverse, -exponent)
    inverse[2, 0] = -(2.0 ** (1080 - exponent))
    np.testing.assert_array_equal(gathered(linalg.inv(a)), inverse)
    lower = np.diag(np.full(n, 2.0**-26)) + np.diag(np.ones(n - 1), -1)
    lower[0, 0] = 2.0**-500
    np.testing.assert_array_equal(gathered(linalg.cholesky(tensor(ctx, lower @ lower.T))), lower)


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("far", [-1, 1])
def test_matrices_near_the_ends_of_the_range(
    ctx: dtl.Context, kind: str, far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(squares, "_SMALL", 4)
    n = 150
    whole = well(n, kind)
    most = np.finfo(kind).maxexp - 20
    power = np.dtype(kind).type(2.0 ** (far * most))
    a = tensor(ctx, whole * power)
    for scale in (1, power):
        right = whole @ np.ones((n, 2), kind) * scale
        close(linalg.solve(a, tensor(ctx, right)) * (power / scale), np.ones((n, 2), kind), kind)
    close(linalg.inv(a) * power, np.linalg.inv(whole), kind)
    sign, logarithm = np.linalg.slogdet(whole)
    close(linalg.slogdet(a).sign, sign, kind)
    close(linalg.slogdet(a).logabsdet / n, (logarithm + n * far * most * logarithm.dtype.type(np.log(2))) / n, kind)


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("n", SQUARES)
def test_cholesky(ctx: dtl.Context, n: int, kind: str) -> None:
    whole = numbers((n, n), kind)
    whole = whole @ whole.conj().T + n * np.eye(n, dtype=kind)
    want = np.linalg.cholesky(whole)
    lower = np.tril(whole) + np.triu(np.full_like(whole, 9), 1)
    close(linalg.cholesky(tensor(ctx, lower)), want, kind)
    close(linalg.cholesky(tensor(ctx, lower.conj().T), upper=True), want.conj().T, kind)
    for how in hows(ctx, n)[:: 1 if n == 7 else 9]:
        close(linalg.cholesky(tensor(ctx, whole, **how)), want, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvalues(ctx: dtl.Context, kind: str) -> None:
    for n in (1, 5, 60):
        whole = numbers((n, n), kind)
        even = whole + whole.conj().T
        values, vectors = linalg.eigh(tensor(ctx, even))
        close(values, np.linalg.eigvalsh(even), kind)
        close(linalg.eigvalsh(tensor(ctx, np.triu(even)), "U"), np.linalg.eigvalsh(even), kind)
        v = gathered(vectors)
        close((v * gathered(values)) @ v.conj().T, even.astype(v.dtype), kind)
        some, others = linalg.eig(tensor(ctx, whole))
        w = gathered(others)
        close(whole @ w, w * gathered(some), kind)
        close(linalg.eigvals(tensor(ctx, whole)), gathered(some), kind)
    assert is_on_every_rank(values)


@pytest.mark.parametrize("kind", [*KINDS, "bool"])
def test_contractions(ctx: dtl.Context, kind: str) -> None:
    a, b = (
        (numbers((7, 5), "int64") > 2, numbers((5, 6), "int64", 2) > 2)
        if kind == "bool"
        else (numbers((7, 5), kind), numbers((5, 6), kind, 2))
    )
    c, v = a[:, :3], a[0]
    formulas: dict[str, tuple[Any, ...]] = {
        "ij,jk->ik": (a, b),
        "ij,jk->ki": (a, b),
        "ij,ik->jk": (a, c),
        "ij,jk": (a, b),
        "ij,ij->": (a, a),
        "ij,ij->j": (a, a),
        "ij,kj->ik": (a, a),
        "ij,j->i": (a, v),
        "i,j->ij": (v, v),
        "ij->ji": (a,),
        "ij->j": (a,),
        "ij->": (a,),
        "...j,j->...": (a, v),
        "ij,jk,kl->il": (a, b, b.T),
        "ij,jk,lk,l->i": (a, b, b, v),
    }
    for formula, given in formulas.items():
        want = np.einsum(formula, *given)
        for how in hows(ctx, 7)[:: 3 if kind != "float64" else 1]:
            fits = not isinstance(how.get("partition"), list)
            made = [tensor(ctx, value, **(how if value.ndim > 1 and fits else {})) for value in given]
            close(dtl.einsum(formula, *made), want, kind if kind != "bool" else "int64")
    close(dtl.einsum("ij,jk->ik", a, tensor(ctx, b)), np.einsum("ij,jk->ik", a, b), "float32")


def test_diagonals_in_formulas(ctx: dtl.Context) -> None:
    square = numbers((6, 6))
    for formula in ("ii->", "ii->i", "ij,jj->i", "ii,ij->j"):
        given = (square,) if "," not in formula else (square, square)
        close(dtl.einsum(formula, *(tensor(ctx, value) for value in given)), np.einsum(formula, *given))


def test_products_of_tensors(ctx: dtl.Context) -> None:
    a, b = numbers((4, 3, 5)), numbers((5, 3, 2))
    x, y = tensor(ctx, a), tensor(ctx, b)
    for axes in (1, ([1, 2], [1, 0]), ([2], [0]), ([1], [1]), 0):
        close(dtl.tensordot(x, y, axes), np.tensordot(a, b, axes))
    close(dtl.tensordot(x, b, 1), np.tensordot(a, b, 1))
    close(dtl.tensordot(x, x, 3), np.tensordot(a, a, 3))
    close(dtl.vecdot(x, x), (a * a).sum(-1))
    close(dtl.vecdot(x, tensor(ctx, a[0]), axis=-2), (a * a[0]).sum(-2))
    z = numbers((4, 3), "complex128")
    close(dtl.vecdot(tensor(ctx, z), tensor(ctx, z)), (z.conj() * z).sum(-1))
    close(dtl.outer(vector(ctx, a[0, 0]), vector(ctx, b[0, 0])), np.outer(a[0, 0], b[0, 0]))
    for one, other in (((4, 3, 5), (4, 5, 2)), ((4, 3, 5), (5, 2)), ((4, 3, 5), (1, 5, 2)), ((3, 5), (2, 5, 4))):
        left, right = numbers(one), numbers(other)
        close(tensor(ctx, left) @ tensor(ctx, right), left @ right)
    close(x @ vector(ctx, a[0, 0]), a @ a[0, 0])
    close(vector(ctx, a[0, :, 0]) @ x, a[0, :, 0] @ a)


def test_the_product_of_a_transpose_moves_sums_only(ctx: dtl.Context) -> None:
    whole = numbers((5000, 4))
    x = tensor(ctx, whole)
    for result in (dtl.tensordot(x, x, (0, 0)), dtl.einsum("ij,ik->jk", x, x)):
        close(result, whole.T @ whole)
        assert is_on_every_rank(result)
    with dtl.trace() as trace:
        dtl.tensordot(x, x, (0, 0))
    assert not any(record.operation in ("copy", "move", "broadcast") for record in trace.records)
    close(linalg.matrix_transpose(x) @ x, whole.T @ whole)


def test_products_that_are_written(ctx: dtl.Context) -> None:
    one, other = numbers((6, 6)), numbers((6, 6), seed=2)
    for partition in ("block", "cyclic", "replicated"):
        a, out = dtl.asarray(ctx, one), dtl.asarray(ctx, other, partition=partition)
        assert np.matmul(a, a, out=out) is out
        close(out, one @ one)
        same = a
        a @= other
        assert a is same
        close(a, one @ other)
    with pytest.raises(ValueError, match="out has shape"):
        np.matmul(a, a, out=dtl.zeros(ctx, (6, 5)))
    with pytest.raises(TypeError, match="must be a container"):
        np.matmul(a, a, out=np.zeros((6, 6)))


def test_numpy_forms_of_einsum(ctx: dtl.Context) -> None:
    one, other, last = numbers((6, 4)), numbers((4, 5), seed=2), numbers((5, 7), seed=3)
    a, b, c = (dtl.asarray(ctx, whole) for whole in (one, other, last))
    for optimize in (False, True, "greedy", ["einsum_path", (0, 1), (0, 1)]):
        close(np.einsum("ij,jk,kl->il", a, b, c, optimize=optimize), one @ other @ last)
    close(np.einsum(a, [0, 1], b, [1, 2], [2, 0]), (one @ other).T)
    close(np.einsum(a, [..., 1], other, [1, 2]), np.einsum(one, [..., 1], other, [1, 2]))
    close(np.einsum("ij,jk", a, b, dtype=np.complex128), (one @ other).astype(np.complex128))
    refused(lambda: np.einsum("ij,jk", a, b, dtype=np.int32), TYPE, 101, "may not be cast")
    refused(lambda: np.einsum(a, 3), TYPE, 101, "lists of numbers")  # type: ignore[call-overload]


def test_crosses_that_spread(ctx: dtl.Context) -> None:
    rows, line = numbers((5, 3)), numbers((3,), seed=2)
    turned = line[[1, 0, 2]]
    for partition in ("block", "cyclic"):
        a, b = dtl.asarray(ctx, rows, partition=partition), dtl.asarray(ctx, line)
        close(np.cross(a, b), np.cross(rows, line))
        close(linalg.cross(line, a), np.cross(line, rows))
        close(linalg.cross(b, dtl.asarray(ctx, turned, partition=partition)), np.cross(line, turned))
        close(np.cross(a.T, a[:, ::-1], axisa=0, axisc=0), np.cross(rows.T, rows[:, ::-1], axisa=0, axisc=0))
        close(np.cross(a.T, a.T + 1.0, axis=0), np.cross(rows.T, rows.T + 1.0, axis=0))
    refused(lambda: linalg.cross(a[:, :2], a[:, :2]), ARGUMENT, 100, "3 elements")


def test_diagonals_and_powers_of_stacks(ctx: dtl.Context) -> None:
    whole = numbers((4, 3, 3), "int64")
    for how in ({}, {"partition": "cyclic"}, {"grid": (1, ctx.size, 1)}):
        a: Any = dtl.asarray(ctx, whole, **how)
        for offset in (-1, 0, 2):
            close(linalg.diagonal(a, offset), np.diagonal(whole, offset, 1, 2))
            close(linalg.trace(a, offset), np.trace(whole, offset, 1, 2))
        for n in (0, 3):
            close(linalg.matrix_power(a, n), np.linalg.matrix_power(whole, n))


def test_diagonals(ctx: dtl.Context) -> None:
    whole = numbers((6, 9), "int64")
    for how in hows(ctx, 6):
        a = tensor(ctx, whole, **how)
        for offset in (0, 2, -3, 8, 20, -20):
            close(linalg.diagonal(a, offset), np.diagonal(whole, offset))
            close(linalg.trace(a, offset), np.trace(whole, offset))
        for offset in (2**70, -(2**63)):  # of which NumPy takes no more than 32 bits
            assert linalg.diagonal(a, offset).shape == (0,)
            assert linalg.trace(a, offset) == 0
        close(linalg.matrix_transpose(a), whole.T)
    close(linalg.trace(a, dtype=np.float32), np.trace(whole, dtype=np.float32), "float32")


def test_powers_chains_and_crosses(ctx: dtl.Context) -> None:
    whole = well(6, "float64") / 6
    a = tensor(ctx, whole)
    for n in (0, 1, 2, 5, -2):
        close(linalg.matrix_power(a, n), np.linalg.matrix_power(whole, n))
    chain = [numbers((4, 9)), numbers((9, 2)), numbers((2, 7)), numbers((7,))]
    close(linalg.multi_dot([tensor(ctx, each) for each in chain]), np.linalg.multi_dot(chain))
    for shape, axis in (((5, 3), -1), ((3, 4), 0), ((3,), 0), ((3, 2, 4), 0), ((2, 3, 4), 1)):
        one, other = numbers(shape), numbers(shape, seed=2)
        close(linalg.cross(tensor(ctx, one), tensor(ctx, other), axis=axis), np.cross(one, other, axis=axis))


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
def test_stacks(ctx: dtl.Context, kind: str) -> None:
    whole, right = numbers((5, 2, 4, 4), kind), numbers((5, 2, 4, 3), kind, 2)
    even = whole @ np.swapaxes(whole, -1, -2).conj() + np.eye(4, dtype=kind)
    divisions: list[dict[str, Any]] = [{}, {"partition": "cyclic"}, {"partition": "replicated"}]
    divisions += [{"grid": (1, 1, 1, ctx.size)}, {"grid": (1, ctx.size, 1, 1)}]
    for how in divisions:
        a, b, c = tensor(ctx, whole, **how), tensor(ctx, right), tensor(ctx, even, **how)
        close(linalg.solve(a, b), np.linalg.solve(whole, right), kind)
        for one, other in ((whole, right[0]), (whole, right[0, 0]), (whole[0, 0], right), (whole[:, :1], right)):
            close(
                linalg.solve(tensor(ctx, one, **(how if one is whole else {})), other),
                np.linalg.solve(one, other[(None,) * (one.ndim - other.ndim)]),  # NumPy before 2 takes it for vectors
                kind,
            )
        wanted = np.linalg.solve(whole, right[0, 0, :, :1])[..., 0]
        close(linalg.solve(a, vector(ctx, right[0, 0, :, 0])), wanted, kind)
        for name in ("inv", "det", "pinv", "matrix_rank"):
            close(getattr(linalg, name)(a), getattr(np.linalg, name)(whole), kind)
        for one, other in zip(linalg.slogdet(a), np.linalg.slogdet(whole)):
            close(one, other, kind)
        close(linalg.cholesky(c), np.linalg.cholesky(even), kind)
        close(linalg.cholesky(c, upper=True), np.swapaxes(np.linalg.cholesky(even), -1, -2).conj(), kind)
        close(linalg.svdvals(b), np.linalg.svd(right, compute_uv=False), kind)
        close(linalg.eigvalsh(c), np.linalg.eigvalsh(even), kind)
        assert linalg.eigvals(a).shape == (5, 2, 4)
    for matrix in (whole, right, np.swapaxes(right, -1, -2)):
        q, r = (gathered(each) for each in linalg.qr(tensor(ctx, matrix), "complete"))
        assert q.shape[-1] == q.shape[-2] == r.shape[-2]
        close(q @ r, matrix, kind)
        q, r = (gathered(each) for each in linalg.qr(tensor(ctx, matrix)))
        close(q @ r, matrix, kind)
        close(gathered(linalg.qr(tensor(ctx, matrix), "r")), r, kind)
        for full in (False, True):
            u, s, vh = linalg.svd(tensor(ctx, matrix), full_matrices=full)
            first = linalg.svd(tensor(ctx, matrix[0, 0]), full_matrices=full)
            close(gathered(u)[0, 0], gathered(first.U), kind) if not full else None
            k = s.shape[-1]
            close((gathered(u)[..., :k] * gathered(s)[..., None, :]) @ gathered(vh)[..., :k, :], matrix, kind)
    values, vectors = (gathered(each) for each in linalg.eigh(tensor(ctx, even)))
    close(even @ vectors, vectors * values[..., None, :], kind)
    values, vectors = (gathered(each) for each in linalg.eig(tensor(ctx, whole)))
    close(whole @ vectors, vectors * values[..., None, :], kind)
    whole[3, 1] = 0
    refused(lambda: linalg.inv(tensor(ctx, whole)), LinAlgError, 110, "Singular matrix")
    refused(
        lambda: linalg.solve(tensor(ctx, whole), tensor(ctx, right[0, :, :3])), LinAlgError, 110, "b must have a's rows"
    )


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
@pytest.mark.parametrize(("rows", "columns"), [(3000, 40), (2000, 5), (700, 90), (4001, 1), (3000, 0)])
def test_tall_matrices_in_pieces(
    ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, kind: str, rows: int, columns: int
) -> None:
    """Under a limit of which a piece has about 100 rows, or as many as columns."""
    whole = numbers((rows * ctx.size, columns), kind)
    x = tensor(ctx, whole)
    monkeypatch.setattr(tall.library, "memory_limit", lambda: tall._SHARE * tall._WIDEST * 100 * columns)
    q, r = (gathered(each) for each in linalg.qr(x))
    u, s, vh = (gathered(each) for each in linalg.svd(x, full_matrices=False))
    values = linalg.svdvals(x)
    monkeypatch.undo()
    for left, right in ((q, r), (u * s, vh)):
        close(left @ right, whole, kind)
    for orthogonal in (q, u):
        close(orthogonal.conj().T @ orthogonal, np.eye(columns, dtype=kind), kind)
    assert (np.diag(r).real >= 0).all()
    close(values, np.linalg.svd(whole, compute_uv=False), kind)


def test_no_room_for_a_piece_is_raised_on_every_rank(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, columns: Any, ends: Any) -> None:
        raise dtl.MemoryError("no room in the scratch folder")

    x = tensor(ctx, numbers((1000 * ctx.size, 40)))
    monkeypatch.setattr(tall.library, "memory_limit", lambda: tall._SHARE * tall._WIDEST * 100 * 40)
    if ctx.rank == ctx.size - 1:
        monkeypatch.setattr(tall.Spill, "add", full)
    with pytest.raises(dtl.MemoryError, match="no room"):
        linalg.qr(x)
    monkeypatch.undo()
    assert linalg.qr(x).Q.shape == x.shape


def test_error_of_a_later_piece_is_raised_on_every_rank(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = dtl.full(ctx, (520 * ctx.size, 32, 32), 0.0, placement="disk")
    stack += np.eye(32)
    stack[-1] = 0  # in the second piece of 4 MiB on the last rank
    monkeypatch.setattr(interior.library, "memory_limit", lambda: 64 << 20)
    refused(lambda: linalg.inv(stack), LinAlgError, 110, "Singular matrix")
    assert linalg.det(stack).sum() == len(stack) - 1


def test_norms(ctx: dtl.Context) -> None:
    orders: tuple[Any, ...] = (None, "fro", 2, 1, -2, "nuc", -1, np.inf, -np.inf)
    whole = numbers((6, 4))
    for how in hows(ctx, 6):
        a = tensor(ctx, whole, **how)
        for order in orders:
            close(linalg.norm(a, order), np.linalg.norm(whole, order))
            close(linalg.norm(a, order, keepdims=True), np.linalg.norm(whole, order, keepdims=True))
        close(np.linalg.norm(a, "f"), np.linalg.norm(whole, "f"))
    for order in orders:
        close(linalg.matrix_norm(a, ord=order or "fro"), np.linalg.norm(whole, order))
    stack = numbers((3, 4, 5))
    for order in orders:
        for axes in (1, 2), (2, 0), (-3, 1):
            close(gathered(linalg.norm(tensor(ctx, stack), order, axes)), np.linalg.norm(stack, order, axes))
            kept = gathered(linalg.norm(tensor(ctx, stack), order, axes, keepdims=True))
            close(kept, np.linalg.norm(stack, order, axes, keepdims=True))
            assert kept.ndim == 3
    for shape in (2, 0, 3), (0, 2, 3), (0, 3):
        none, axes = tensor(ctx, np.zeros(shape)), (-2, -1)
        for order in (2, 1, np.inf, "nuc"):
            np.testing.assert_array_equal(gathered(linalg.norm(none, order, axes)), np.zeros(shape[:-2]))
    refused(lambda: linalg.norm(none, -2), ARGUMENT, 100, "shape (0, 3), has no norm of order -2")
    close(linalg.vector_norm(a), np.linalg.norm(whole))
    close(linalg.vector_norm(a, axis=0, ord=3), np.linalg.norm(whole, 3, 0))
    refused(lambda: linalg.norm(a, 3), ARGUMENT, 100, "Invalid norm order for matrices")
    refused(lambda: linalg.norm(tensor(ctx, stack), 1), ARGUMENT, 100, "Improper number of dimensions")
    refused(lambda: linalg.norm(vector(ctx, whole[0]), "nuc"), ARGUMENT, 100, "for vectors")
    refused(lambda: linalg.norm(a, "max"), TYPE, 101, "'max'")


def test_numpys_functions_lead_here(ctx: dtl.Context) -> None:
    whole = well(5, "float64")
    a = tensor(ctx, whole)
    close(np.linalg.solve(a, a), np.eye(5))
    assert isinstance(np.linalg.qr(a), linalg.QRResult)
    close(np.linalg.svd(a, full_matrices=False)[1], np.linalg.svd(whole)[1])
    close(np.linalg.norm(a, "nuc"), np.linalg.norm(whole, "nuc"))
    close(np.fft.fft2(a), np.fft.fft2(whole))
    close(a.T @ a, whole.T @ whole)


def test_refusals(ctx: dtl.Context) -> None:
    a, v, flat = tensor(ctx, numbers((4, 3))), vector(ctx, numbers((4,))), tensor(ctx, numbers((2, 2, 3)))
    for name in ("qr", "svd", "svdvals", "pinv", "matrix_rank", "cond", "trace", "diagonal"):
        refused(lambda name=name: getattr(linalg, name)(v), LinAlgError, 110, "1-dimensional")  # type: ignore[misc]
        refused(lambda name=name: getattr(linalg, name)(np.eye(3)), TYPE, 101, "a must be")  # type: ignore[misc]
    for name in ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals"):
        refused(lambda name=name: getattr(linalg, name)(a), LinAlgError, 110, "must be square")  # type: ignore[misc]
        refused(lambda name=name: getattr(linalg, name)(flat), LinAlgError, 110, "must be square")  # type: ignore[misc]
    refused(lambda: linalg.qr(a, "full"), ARGUMENT, 100, "mode 'full'")
    refused(lambda: linalg.solve(tensor(ctx, np.eye(3)), v), LinAlgError, 110, "(4,)")
    refused(lambda: linalg.lstsq(a, vector(ctx, np.ones(3))), LinAlgError, 110, "Incompatible dimensions")
    refused(lambda: linalg.eigh(tensor(ctx, np.eye(3)), "M"), ARGUMENT, 100, "UPLO")
    refused(lambda: dtl.einsum("ij,jk", a), ARGUMENT, 100, "2 operands")
    refused(lambda: dtl.einsum("ijk", a), ARGUMENT, 100, "does not fit shape")
    refused(lambda: dtl.einsum("ij,ij->ik", a, a), ARGUMENT, 100, "has output")
    refused(lambda: dtl.einsum("ij,jk", a, a), ARGUMENT, 100, "extents")
    refused(lambda: dtl.einsum("ij", np.eye(2)), TYPE, 101, "none of the operands")
    refused(lambda: dtl.tensordot(a, a, 1), ARGUMENT, 100, "shape-mismatch")
    refused(lambda: dtl.vecdot(a, v), ARGUMENT, 100, "extents")
    refused(lambda: dtl.outer(a, v), ARGUMENT, 100, "1 dimension")
    refused(lambda: linalg.multi_dot([a]), ARGUMENT, 100, "at least two")
    refused(lambda: linalg.cross(v, v), ARGUMENT, 100, "3 elements")


def test_more_than_one_rank_has_memory_for(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    from dtl.linalg import matrix_arguments

    monkeypatch.setattr(matrix_arguments, "available", lambda: 1000)
    assert linalg.eigh(tensor(ctx, numbers((20, 20)))).eigenvalues.shape == (20,)  # is not worth asking
    monkeypatch.setattr(matrix_arguments, "_MUCH", 0)
    a = tensor(ctx, numbers((300, 20)))
    square = tensor(ctx, numbers((20, 20)))
    for call in (lambda: linalg.svd(a), lambda: linalg.eigh(square)):
        refused(call, dtl.MemoryError, 200, "1000 left")
    assert linalg.svd(a, full_matrices=False).U.shape == (300, 20)


def test_operands_are_as_they_were(ctx: dtl.Context) -> None:
    """One rank hands its own part to LAPACK, which must not write to it."""
    whole = numbers((40, 40)) + np.eye(40) * 40
    a, b = tensor(ctx, whole), tensor(ctx, whole[:, :3])
    for call in (linalg.inv, linalg.svd, linalg.qr, linalg.eigh, linalg.eigvals, linalg.det, linalg.cholesky):
        call(a)
        assert_holds(a, whole)
    linalg.solve(a, b)
    assert_holds(b, whole[:, :3])
