"""What an algorithm yields and what a solve returns."""

from __future__ import annotations

import contextlib
import io
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dcprog.errors import DataError, unknown_name
from dcprog.program.values import load_values
from dcprog.typing import Vector

if TYPE_CHECKING:
    from dcprog.algorithms.criticality import Multipliers
    from dcprog.convex.certificate import Residuals

ARRAY = "array "
"""In a saved file the names of arrays begin so: a variable may be called as a parameter of NumPy is."""


class Status(str, Enum):
    """How a run ended. DCA finds critical points, so the best of these is ``converged``, never "optimal".

    ``converged`` needs the certificate at the point that is returned (:mod:`dcprog.algorithms.criticality`). ``stalled``:
    nothing moves any more, and the certificate does not hold. ``stopped_by_rule``: a rule that you passed ended the run,
    and it does not hold. ``defective``: a gap of criticality was negative beyond rounding, so a solver, a gradient or the
    convexity of g is wrong. ``unknown``: a solver calls a subproblem unbounded, and no ray proves it.
    ``infeasible_stationary``: the violation of the DC constraints is not 0 and falls in no direction to first order; that no
    point satisfies them is not proved.
    """

    CONVERGED = "converged"
    STALLED = "stalled"
    STOPPED_BY_RULE = "stopped_by_rule"
    DEFECTIVE = "defective"
    UNKNOWN = "unknown"
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    STOPPED_BY_CALLBACK = "stopped_by_callback"
    SUBPROBLEM_FAILED = "subproblem_failed"
    NOT_CONVEX = "not_convex"
    UNBOUNDED = "unbounded"
    INFEASIBLE = "infeasible"
    INFEASIBLE_STATIONARY = "infeasible_stationary"

    def __str__(self) -> str:
        return self.value


def _unnamed(name: str, x: Vector) -> np.ndarray:
    raise unknown_name("variable", name, ())


@dataclass(frozen=True, eq=False)
class State:
    """One iterate. ``gap``, ``step`` and what follows belong to the iteration that led here, and are None at the start:
    ``gap`` is the gap of criticality of the iterate before. ``level`` is f without its constant, which would
    swallow its last digits, and ``size`` the size of its terms;
    ``scale`` is what a gap is small against.
    """

    iteration: int
    x: Vector
    f: float
    g: float
    h: float
    level: float = 0.0
    size: float = 0.0
    scale: float = 0.0
    gap: float | None = None
    step: float | None = None
    violation: float = 0.0
    """The largest violation of a DC constraint; all others hold at every iterate."""
    solver: str | None = None
    residuals: Residuals | None = None
    escalations: tuple[str, ...] = ()
    seconds: float = 0.0
    previous: Vector | None = None
    multipliers: Multipliers | None = field(default=None, repr=False)
    read: Callable[[str, Vector], np.ndarray] = field(default=_unnamed, repr=False)

    def __getitem__(self, name: str) -> np.ndarray:
        """The values of a variable, by its name on the model, or of a derived array."""
        return self.read(name, self.x)

    def step_on(self, names: Sequence[str]) -> float:
        """The step, on the named arrays only."""
        assert self.previous is not None
        return max(relative_step(self.read(name, self.x), self.read(name, self.previous)) for name in names)


def relative_step(new: np.ndarray, old: np.ndarray) -> float:
    """maxᵢ min(|Δxᵢ|, |Δxᵢ/xᵢ|), the left-hand side of Algorithm 4.1's stopping rule.

    >>> round(relative_step(np.array([1.1, 100.0]), np.array([1.0, 101.0])), 12)
    0.1
    """
    return float((np.abs(new - old) / np.maximum(np.abs(old), 1.0)).max(initial=0.0))


@dataclass(frozen=True)
class Record:
    """A line of the history: a state without its point."""

    iteration: int
    f: float
    g: float
    h: float
    gap: float | None
    step: float | None
    solver: str | None
    primal_residual: float | None
    dual_residual: float | None
    gap_residual: float | None
    seconds: float

    @classmethod
    def of(cls, state: State) -> Record:
        """The line of ``state``."""
        r = state.residuals
        return cls(
            iteration=state.iteration,
            f=state.f,
            g=state.g,
            h=state.h,
            gap=state.gap,
            step=state.step,
            solver=state.solver,
            primal_residual=None if r is None else r.primal,
            dual_residual=None if r is None else r.dual,
            gap_residual=None if r is None else r.gap,
            seconds=state.seconds,
        )


@dataclass(eq=False)
class Result(Mapping[str, np.ndarray]):
    """The outcome of :func:`dcprog.solve`.

    ``result["w"]`` or ``result[m.w]`` is the array of the model's variable w. ``gap`` is the gap of criticality of x itself,
    g(x) − h(x) − min {g(y) − h(x) − ⟨u, y − x⟩ : y ∈ C} ≥ 0: 0 says that x solves its own subproblem, i.e. is critical;
    None: a limit or a failure came before it was known. ``violation`` is the largest absolute violation of a bound or
    constraint of the model. ``assumptions`` lists what was declared or sampled, not proved. ``subproblems`` counts
    the convex problems that were solved, ``rebuilds`` how often one was opened anew. ``bound`` is a proved lower
    bound of f, None here.
    """

    name: str
    status: Status
    objective: float
    x: Vector
    gap: float | None
    iterations: int
    algorithm: str
    solver: str
    arrays: dict[str, np.ndarray] = field(repr=False)
    history: list[Record] = field(repr=False)
    timings: dict[str, float]
    violation: float = np.inf
    bound: float | None = None
    stationarity: str | None = None
    assumptions: tuple[str, ...] = ()
    multipliers: dict[str, np.ndarray] = field(default_factory=dict)
    """Of DC constraints, by name: λ ≥ 0 with f + Σ λ(p − q) stationary; of either sign for equations."""
    rebuilds: int = 0
    subproblems: int = 0
    messages: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list, repr=False)
    classifier: Any = field(default=None, repr=False)
    """What the solution means, e.g. a classifier, where the program says so; not saved."""

    @property
    def success(self) -> bool:
        """Whether the run converged."""
        return self.status is Status.CONVERGED

    def __getitem__(self, name: Any) -> np.ndarray:
        if hasattr(name, "parent_component"):
            return self._of_component(name)
        if name not in self.arrays:
            raise unknown_name("variable", name, self.arrays)
        return self.arrays[name]

    def _of_component(self, variable: Any) -> np.ndarray:
        """The array of a Pyomo variable, or the entry of one element of it."""
        component = variable.parent_component()
        array = self[component.name]
        if variable is component:
            return array
        return np.asarray(array.ravel()[list(component.keys()).index(variable.index())])

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __contains__(self, name: object) -> bool:
        return name in self.arrays if isinstance(name, str) else getattr(name, "name", None) in self.arrays

    def __str__(self) -> str:
        gap = "–" if self.gap is None else f"{self.gap:.2e}"
        times = ", ".join(f"{k} {v:.3f}" for k, v in self.timings.items())
        lines = [
            f"{self.name or 'DC program'}: {self.status} after {self.iterations} iterations of {self.algorithm} "
            f"with {self.solver}",
            f"  objective  {self.objective:.10g}",
            f"  gap        {gap}",
            f"  violation  {self.violation:.2e}",
            *([f"  starts     the best of {len(self.runs)}"] if self.runs else []),
            f"  seconds    {times}",
            *(f"  note       {message}" for message in self.messages),
        ]
        return "\n".join(lines)

    def load_into(self, model: Any) -> None:
        """Write the values into the variables of ``model`` that carry the same names."""
        load_values(model, self.arrays)

    def save(self, path: str | Path) -> None:
        """Write ``path``.json (everything but arrays) and ``path``.npz (the arrays), each whole or not at all."""
        arrays: dict[str, Any] = {"x": self.x, **{ARRAY + name: values for name, values in self.arrays.items()}}
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)
        _replace_file(_beside(path, ".npz"), packed.getvalue())
        _replace_file(_beside(path, ".json"), json.dumps(self.to_dict(), indent=1, allow_nan=True).encode())

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read what :meth:`save` wrote; ``path`` is what it was given."""
        words, numbers = _beside(path, ".json"), _beside(path, ".npz")
        with _reading(words):
            data = json.loads(words.read_text(encoding="utf-8"))
            data["status"] = Status(data["status"])
            data["history"] = [Record(**record) for record in data["history"]]
        with _reading(numbers), np.load(numbers, allow_pickle=False) as npz:
            arrays = {name.removeprefix(ARRAY): npz[name] for name in npz.files if name.startswith(ARRAY)}
            x = npz["x"]
        with _reading(words):
            data["assumptions"] = tuple(data["assumptions"])
            data["multipliers"] = {name: np.array(values) for name, values in data["multipliers"].items()}
            return cls(x=x, arrays=arrays, **data)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, as plain JSON types."""
        return {
            "name": self.name,
            "status": str(self.status),
            "objective": self.objective,
            "gap": self.gap,
            "iterations": self.iterations,
            "algorithm": self.algorithm,
            "solver": self.solver,
            "history": [asdict(record) for record in self.history],
            "timings": self.timings,
            "violation": self.violation,
            "bound": self.bound,
            "stationarity": self.stationarity,
            "assumptions": list(self.assumptions),
            "multipliers": {name: values.tolist() for name, values in self.multipliers.items()},
            "rebuilds": self.rebuilds,
            "subproblems": self.subproblems,
            "messages": self.messages,
            "runs": self.runs,
        }


def _beside(path: str | Path, ending: str) -> Path:
    return Path(path).with_name(Path(path).name + ending)


def _replace_file(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise DataError(f"{path} cannot be written ({error.strerror or error}): save the result elsewhere") from None


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever is wrong with a file is one sentence that names it."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}): pass the path that save() was given, without an ending"
        ) from None
    except Exception as error:  # whatever JSON, zip files and NumPy come up with
        why = f"{type(error).__name__}: {error}"
        raise DataError(f"{path} is truncated, or no result of dcprog ({why}): save it anew") from None
