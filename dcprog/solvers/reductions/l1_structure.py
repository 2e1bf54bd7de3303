"""Which linear programs are ℓ1 programs, min s'p + t'q + c'β + ν'ξ subject to B(p − q) + Gβ + ξ ≥ r, and what is where.

|w| comes in two forms: columns p, q ≥ 0 with opposite entries, or w free with rows v + w ≥ 0 and v − w ≥ 0, which is the
same with p = (v + w)/2 and q = (v − w)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.solvers.reductions.dual_penalty import L1Program, Primal
from dcprog.solvers.reductions.mirror import mirror_columns
from dcprog.typing import Indices, Mask, Sparse, Vector

DENSE_FROM = 0.1
"""Share of non-zeros in B from which its products are faster on a dense array."""


class Envelope(NamedTuple):
    """Columns w and v with vⱼ + wⱼ ≥ 0 and vⱼ − wⱼ ≥ 0 in the rows ``above`` and ``below``."""

    w: Indices
    v: Indices
    above: Indices
    below: Indices


@dataclass(frozen=True, eq=False)
class L1Structure:
    """The parts of an ℓ1 program among the columns and rows of a linear program."""

    n: int
    m: int
    B: Any
    G: Any
    r: Vector
    sign: Vector
    """−1 for rows that the linear program states as ≤."""
    margin: Indices
    """The rows of (P) among those of the linear program."""
    envelope: Envelope
    p: Indices
    q: Indices
    lone: Indices
    """Columns p without a q."""
    free: Indices
    slack: Indices
    slack_row: Indices
    """The row of (P) that each slack belongs to."""

    def program(self, c: Vector) -> L1Program:
        """(P) with the costs c of the linear program. Columns of B: the w of the envelope, the pairs p and q, lone p."""
        nu = np.full(len(self.margin), np.inf)
        nu[self.slack_row] = c[self.slack]
        cw, cv = c[self.envelope.w], c[self.envelope.v]
        s = np.concatenate([cv + cw, c[self.p], c[self.lone]])
        t = np.concatenate([cv - cw, c[self.q], np.full(len(self.lone), np.inf)])
        return L1Program(self.B, self.G, self.r, s, t, c[self.free], nu)

    def point(self, z: Primal) -> Vector:
        """The point of the linear program that z stands for."""
        out = np.zeros(self.n)
        cuts = [len(self.envelope.w), len(self.envelope.w) + len(self.p)]
        (p_w, p, lone), (q_w, q, _) = np.split(z.p, cuts), np.split(z.q, cuts)
        out[self.envelope.w], out[self.envelope.v] = p_w - q_w, p_w + q_w
        out[self.p], out[self.q], out[self.lone] = p, q, lone
        out[self.free], out[self.slack] = z.beta, z.xi[self.slack_row]
        return out

    def row_duals(self, lp: L1Program, u: Vector) -> Vector:
        """Duals of all rows, given those of (P): the rows of the envelope take half the reduced costs of p and q each."""
        out = np.zeros(self.m)
        out[self.margin] = u
        at = len(self.envelope.w)
        a = (lp.B.T @ u)[:at]
        out[self.envelope.above], out[self.envelope.below] = 0.5 * (lp.s[:at] - a), 0.5 * (lp.t[:at] + a)
        return self.sign * out


def l1_structure(problem: ConvexProblem) -> L1Structure | str:
    """The parts of ``problem`` if it is an ℓ1 program, or in words what is against that."""
    free = np.isneginf(problem.lower) & np.isposinf(problem.upper)
    positive = (problem.lower == 0) & np.isposinf(problem.upper)
    below, above = np.isfinite(problem.row_lower), np.isfinite(problem.row_upper)
    if not (free | positive).all():
        return "it takes variables that are free or ≥ 0, and this problem has others"
    if (below & above).any():
        return "it takes rows with one limit, and this problem has equations or rows with two"
    sign = np.where(above, -1.0, 1.0)
    A = sp.csc_array(sp.diags_array(sign) @ problem.A)
    r = sign * np.where(above, problem.row_upper, problem.row_lower)
    envelope = _envelope(A, r, free)
    kept = below | above
    kept[envelope.above] = kept[envelope.below] = False
    margin = np.flatnonzero(kept)
    A = A if kept.all() else sp.csc_array(A.tocsr()[margin])
    rest = np.ones(problem.n, dtype=bool)
    rest[envelope.w] = rest[envelope.v] = False
    p, q, lone, slack, slack_row = _positive_columns(A, np.flatnonzero(rest & positive))
    if not len(p) + len(envelope.w):
        return "it takes weights w = p − q, or −v ≤ w ≤ v, and this problem has none"
    B = A[:, np.concatenate([envelope.w, p, lone])]
    biases = np.flatnonzero(rest & free)
    return L1Structure(
        n=problem.n,
        m=problem.m,
        B=B.toarray() if B.nnz > DENSE_FROM * B.shape[0] * B.shape[1] else B,
        G=A[:, biases].toarray(),
        r=r[margin],
        sign=sign,
        margin=margin,
        envelope=envelope,
        p=p,
        q=q,
        lone=lone,
        free=biases,
        slack=slack,
        slack_row=slack_row,
    )


def _envelope(A: Sparse, r: Vector, free: Mask) -> Envelope:
    """Pairs of rows v + w ≥ 0 and v − w ≥ 0 in A z ≥ r, in which v has no other entry and w is free."""
    rows = A.tocsr()
    rows.sort_indices()
    two = np.flatnonzero((np.diff(rows.indptr) == 2) & (r == 0))
    at = rows.indptr[two]
    first, second = rows.indices[at], rows.indices[at + 1]
    order = np.lexsort((second, first))  # rows over the same two columns side by side
    same = (np.diff(first[order]) == 0) & (np.diff(second[order]) == 0)
    i, k = order[:-1][same], order[1:][same]
    signs = np.stack([rows.data[at[i]], rows.data[at[i] + 1], rows.data[at[k]], rows.data[at[k] + 1]])
    entries = np.diff(A.indptr)
    found = []
    for v, w, (v_i, w_i, v_k, w_k) in ((first[i], second[i], signs), (second[i], first[i], signs[[1, 0, 3, 2]])):
        fits = (v_i == 1) & (v_k == 1) & (np.abs(w_i) == 1) & (w_k == -w_i) & (entries[v] == 2) & free[w]
        above, below = np.where(w_i > 0, two[i], two[k]), np.where(w_i > 0, two[k], two[i])
        found.append([part[fits] for part in (w, v, above, below)])
    return Envelope(*(np.concatenate(parts).astype(np.int64) for parts in zip(*found, strict=True)))


def _positive_columns(A: Sparse, columns: Indices) -> tuple[Indices, Indices, Indices, Indices, Indices]:
    """The non-negative columns sorted out: p, the q opposite to them, lone p, and one slack a row with that row."""
    part = A[:, columns]
    partner = mirror_columns(part)
    here = np.arange(len(columns))
    p, q = here[partner > here], partner[partner > here]
    single = here[(np.diff(part.indptr) == 1) & (partner < 0)]
    single = single[part.data[part.indptr[single]] == 1]
    row, which = np.unique(part.indices[part.indptr[single]], return_index=True)
    slack = single[which]
    lone = np.setdiff1d(here[partner < 0], slack)
    return columns[p], columns[q], columns[lone], columns[slack], row.astype(np.int64)
