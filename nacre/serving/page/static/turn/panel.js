// The panel on the right: the turn whose derivation it shows.

import { $, quiet, t } from "../shared/page.js";

export const panel = {
  turn: null,
  pending: 0,
  show(turn, open = true) {
    this.turn = turn;
    if (open) this.open();
    this.draw();
  },
  open() {
    if (!$("panel").hidden) return;
    $("panel").hidden = false;
    document.body.classList.add("with-panel");
    $("derive").ariaExpanded = true;
    $("panel-close").focus();
  },
  close() {
    $("panel").hidden = true;
    document.body.classList.remove("with-panel");
    $("derive").ariaExpanded = false;
  },
  changed(turn) {
    if (turn !== this.turn || $("panel").hidden || this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  },
  draw() {
    if ($("panel").hidden) return;
    if (!this.turn) { $("derivation").replaceChildren(quiet(t("stepsShownHere"))); return; }
    // the code of derivations is loaded with the first one
    import("./derivation.js").then(({ drawDerivation }) => { if (this.turn) drawDerivation($("derivation"), this.turn); });
  },
};
