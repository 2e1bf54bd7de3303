"""Studies: the tables of the papers computed anew, and the same protocol on data of one's own."""

from dcprog.studies.compare import Comparison, compare
from dcprog.studies.methods import METHODS
from dcprog.studies.papers import NAMES as STUDIES
from dcprog.studies.reproduce import Reproduction, reproduce

__all__ = ["METHODS", "STUDIES", "Comparison", "Reproduction", "compare", "reproduce"]
