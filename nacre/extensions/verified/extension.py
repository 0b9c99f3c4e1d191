"""The declaration of verified questions."""

from nacre.extension import Extension

_HOME = "nacre.extensions.verified"

EXTENSION = Extension(
    "verified",
    requires=("nacre.extensions.evaluation",),
    commands={"examples": f"{_HOME}.command:examples_app"},
    services={
        "apply": f"{_HOME}.look_up:apply_verified",
        "understand": f"{_HOME}.look_up:understand_question",
        "recheck": f"{_HOME}.command:recheck_verified_questions",
        "calibrate": f"{_HOME}.checks:calibrate_graph",
        "undo_calibration": f"{_HOME}.checks:undo_calibration",
        "entries": f"{_HOME}.entries:VerifiedQuestionService",
    },
    routes=f"{_HOME}.routes:add_verified",
    serve=f"{_HOME}.routes:keep_calibrated",
)
