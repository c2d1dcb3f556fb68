"""What every table of the configuration file is: frozen, and without unknown keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """A table of the file: frozen, without unknown keys; a key without a value counts as left out."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_empty(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return {key: value for key, value in data.items() if value is not None or key not in known}

    def said(self, key: str) -> bool:
        """Whether the file gives this key; else it has its default here."""
        return key in self.model_fields_set
