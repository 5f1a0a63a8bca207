"""For setuptools older than 61 (Ubuntu 22.04), which does not read pyproject.toml's [project]."""
from setuptools import setup

setup(name="assay-capture", version="0.1.0", packages=["assay_capture"], install_requires=["numpy>=1.19"],
      python_requires=">=3.9")
