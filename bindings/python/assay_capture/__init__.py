"""Writes golden corpora for assay. NumPy only; `assay_capture.pytorch` adds helpers for PyTorch modules."""
from .corpus import Corpus, CorpusError, capture, draw_noise

__version__ = "0.1.0"
__all__ = ["Corpus", "CorpusError", "capture", "draw_noise", "__version__"]
