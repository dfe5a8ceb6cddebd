"""Kernels by names short enough for a column."""

from __future__ import annotations

import re

from ..analyzers.identity import outside_brackets, without_namespaces, work_words

_PARAMETERS = re.compile(r"\([^<>]*\)\Z")


def kernel_label(name: str) -> str:
    """Without namespaces, parameters and, of a general kernel, the template arguments that do not
    say what it computes: `elementwise_kernel<AddFunctor>`. Other names are left as they are."""
    if "::" not in name and "<" not in name:
        return name
    text = without_namespaces(name.removeprefix("void "))
    outside = outside_brackets(text).strip()
    work = work_words(name, outside)
    if outside and work:
        return f"{outside}<{', '.join(work)}>"
    return _PARAMETERS.sub("", text) or name
