"""What if: commands that train the run that is shown once more, with another merge or another rule for tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.step_marks import selected_id, selected_token
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.actions import command, tr
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.ui.controllers.training_controller import TrainingController


class RulesController(Controller):
    def __init__(self, window: Workspace, training: TrainingController) -> None:
        super().__init__(window)
        self._training, model = training, self._model
        changes = model.selection_changed, model.step_changed, model.side_changed, model.state_changed, model.run_reset
        self._actions.bind(self, *changes, model.candidates_changed)

    @property
    def _config(self) -> TrainingConfig:
        assert self._model.config is not None
        return self._model.config

    @property
    def _token(self) -> str:
        selection = self._model.selection
        if selection is not None and selection.kind == "word":  # as a whole
            return selection.text + (self._config.end_of_word_suffix or "")
        return selected_token(self._model)

    @property
    def _pair(self) -> tuple[str, str] | None:
        selection, history, token_id = self._model.selection, self._model.history, selected_id(self._model)
        if selection is not None and selection.kind == "pair":
            return selection.left, selection.right
        step = 0 if history is None or token_id is None else history.birth_step(token_id)
        return self._pair_at(step) if step else None

    def _pair_at(self, step: int) -> tuple[str, str]:
        assert self._model.history is not None
        merge = self._model.history[step - 1]
        return merge.left, merge.right

    @property
    def _merge(self) -> int:
        """The merge whose candidates are shown."""
        return self._model.words_step + 1

    def _why_none(self) -> str:
        model = self._model
        if model.run is None or model.history is None or model.selection is None:
            return self.tr("Nothing is selected")
        if model.run.library_run is not None:
            return self.tr("This run was trained with another library")
        return self.tr("Training is running") if model.state is TrainerState.TRAINING else ""

    def _why_no_token(self) -> str:
        if why := self._why_none():
            return why
        is_symbol = len(self._token.removeprefix(self._config.continuing_subword_prefix)) < 2
        return self.tr("The alphabet has this symbol from the start") if is_symbol else ""

    def _why_not_instead(self) -> str:
        if why := self._why_none():
            return why
        pair, found, history = self._pair, self._model.candidates, self._model.history
        if pair is None or found is None or found.step != self._merge - 1:
            return self.tr("No candidate of this step is selected")
        if pair not in [(each.left, each.right) for each in found.pairs]:
            return self.tr("This pair is not one of the candidates shown for this step")
        is_merged = history is not None and len(history) >= self._merge and self._pair_at(self._merge) == pair
        return self.tr("This pair is merged at this step") if is_merged else ""

    @command(
        tr("Merge this &instead"), tr("Train a new run that merges this pair at this step instead"),
        unless=_why_not_instead,
    )  # fmt: skip
    def merge_instead(self) -> None:
        assert self._pair is not None
        self._branch(chosen_merges=(*self._chosen_before(self._merge), (self._merge, *self._pair)))

    @command(
        tr("&Never create this token"), tr("Train a new run in which no pair becomes this token"),
        unless=lambda self: self._why_no_token()
        or (self.tr("It is forbidden already") if self._token in self._config.forbidden_tokens else ""),
    )  # fmt: skip
    def forbid_token(self) -> None:
        token = self._token
        self._forbid(lambda merge: merge.token == token, forbidden_tokens=(*self._config.forbidden_tokens, token))

    def _why_pair_stays(self) -> str:
        if (why := self._why_none()) or self._pair is None:
            return why or self.tr("No pair is selected")
        return self.tr("It is forbidden already") if self._pair in self._config.forbidden_pairs else ""

    @command(
        tr("Never m&erge this pair"), tr("Train a new run in which this pair is not a candidate"),
        unless=_why_pair_stays,
    )  # fmt: skip
    def forbid_pair(self) -> None:
        pair = self._pair
        pairs = (*self._config.forbidden_pairs, pair)
        self._forbid(lambda merge: (merge.left, merge.right) == pair, forbidden_pairs=pairs)

    def _why_not_required(self) -> str:
        if why := self._why_no_token():
            return why
        config, token = self._config, self._token
        if token in config.required_tokens:
            return self.tr("It is required already")
        if token in config.reserved_tokens:
            return self.tr("Special and user tokens are in the vocabulary from the start")
        try:
            replace(config, required_tokens=(*config.required_tokens, token))
        except StudioError:
            return self.tr("It is too long, or the settings are for byte pair encoding, without longest match")
        return ""

    @command(
        tr("Re&quire this token"),
        tr("Train a new run whose vocabulary has this token from the start, for longest match"),
        unless=_why_not_required,
    )  # fmt: skip
    def require_token(self) -> None:
        self._branch(required_tokens=(*self._config.required_tokens, self._token))

    def _forbid(self, is_forbidden: Callable[[Merge], bool], **rules: Any) -> None:
        first = next((merge.step for merge in self._model.history or () if is_forbidden(merge)), None)
        self._branch(chosen_merges=self._chosen_before(first), **rules)

    def _chosen_before(self, step: int | None) -> tuple[tuple[int, str, str], ...]:
        # After the step at which the new run diverges, what stands where differs.
        return tuple(merge for merge in self._config.chosen_merges if step is None or merge[0] < step)

    def _branch(self, **rules: Any) -> None:
        self._training.train_branch(replace(self._config, **rules))
