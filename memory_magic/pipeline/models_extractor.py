"""Stage one by a model: the prompt goes out, the answer comes back checked and made safe.

A session of which nothing is left after filtering is not sent: there is nothing to remember in it, and no token to pay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.pipeline import models, models_answer, models_names, templates
from memory_magic.pipeline.contracts import Extracted
from memory_magic.pipeline.models import Question
from memory_magic.pipeline.offline import Extraction
from memory_magic.text.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.pipeline.contracts import Material
    from memory_magic.pipeline.models import Model
    from memory_magic.pipeline.models_limits import Limits
    from memory_magic.pipeline.models_names import ModelName

NOTHING = "[]"


class ModelExtractor:
    """Asks one model about sessions; may be shared by threads."""

    def __init__(self, model: Model) -> None:
        """Take an opened model (`models.open_model`)."""
        self._model = model

    @property
    def name(self) -> str:
        """Return what the setting calls the model."""
        return self._model.name.text

    @property
    def is_remote(self) -> bool:
        """Tell whether a session leaves this machine and its private network."""
        return self._model.name.remote

    @property
    def host(self) -> str:
        """Return the host of the model's server."""
        return self._model.name.host

    @property
    def context_window(self) -> int | None:
        """Return the window in tokens, None when it is not known."""
        return self._model.context_window

    def extract(self, material: Material, *, cancel: Callable[[], bool]) -> Extracted:
        """Extract one session; raises a `ModelError`, or `FileStateError` for a template that cannot be used."""
        rendered = material.rendered
        if rendered.text == NOTHING:
            return Extracted(Extraction("", "", None), 0, redacted=rendered.redacted)
        session = material.session
        prompt = templates.stage_one(
            rendered.text,
            thread_id=_washed(session.id),
            path=_washed(session.path),
            cwd=None if session.cwd is None else _washed(session.cwd),
            date=f"{day:%Y-%m-%d}" if (day := session.started or session.updated) else None,
            root=material.root,
        )
        question = Question(
            prompt.system,
            prompt.user,
            effort=models_names.EFFORTS[models_names.DEFAULT],
            schema=models_answer.SCHEMA,
            schema_name=models_answer.SCHEMA_NAME,
        )
        reply = self._model.ask(question, cancel=cancel)
        safe = models_answer.safe(models_answer.parse(reply.text, where=self.name))
        counted = reply.input_tokens or estimate(prompt.system) + estimate(prompt.user)
        return Extracted(
            safe.extraction,
            counted,
            reply.output_tokens,
            reply.cost,
            rendered.truncated,
            _sum(rendered.redacted, safe.redacted),
        )


def open_extractor(name: ModelName, *, on_limits: Callable[[Limits], None] | None = None) -> ModelExtractor:
    """Return the extractor of a model; raises as `models.open_model`."""
    return ModelExtractor(models.open_model(name, on_limits=on_limits))


def _washed(text: str) -> str:
    from memory_magic.pipeline.washing import Wash

    return Wash().text(text)


def _sum(*counts: dict[str, int]) -> dict[str, int]:
    kinds = sorted({kind for one in counts for kind in one})
    return {kind: sum(one.get(kind, 0) for one in counts) for kind in kinds}
