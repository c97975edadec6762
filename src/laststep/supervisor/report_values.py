"""How does the last report look as JSON?"""

from typing import Any

from laststep.records.report import LastReport, SavedCheckpoint
from laststep.records.resume import ResumeVerdict
from laststep.records.text import Language


def list_report_values(report: LastReport, language: Language = Language.ENGLISH) -> dict[str, Any]:
    """Turn the last report into plain values for JSON."""
    judgement = report.judgement
    return {
        "outcome": judgement.outcome.value,
        "exit_code": int(judgement.exit_code),
        "steps": report.steps,
        "target_steps": report.target_steps,
        "attempts": report.attempts,
        "faults": [
            {"kind": fault.kind, "count": fault.count, "summary": fault.summary.say(language), **fault.details}
            for fault in report.faults
        ],
        "checkpoints": [_checkpoint_values(checkpoint) for checkpoint in report.checkpoints],
        "resumes": [_resume_values(resume, language) for resume in report.resumes],
        "failed_rank": judgement.rank,
        "signal": judgement.signal,
        "seconds": round(report.seconds, 3),
        "run_id": report.run_id,
        "run_folder": report.run_folder,
        "watched_from_outside_only": report.unwatched_because.say(language)
        if report.unwatched_because is not None
        else None,
        "notes": [note.say(language) for note in report.notes],
    }


def _checkpoint_values(checkpoint: SavedCheckpoint) -> dict[str, Any]:
    return {
        "path": checkpoint.path,
        "step": checkpoint.step,
        "is_there": checkpoint.is_there,
        "soundness": checkpoint.soundness.value,
    }


def _resume_values(resume: ResumeVerdict, language: Language) -> dict[str, Any]:
    return {
        "attempt": resume.attempt,
        "step": resume.step,
        "exactness": resume.exactness.value,
        "compared_steps": resume.compared_steps,
        "reason": resume.reason.say(language),
    }
