"""Goes on with the study "both" of a journal, or makes it, and prints what Optuna says of it as JSON.

Usage: optuna_study.py file PATH TRIALS | redis URL PREFIX TRIALS"""
import json
import math
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
try:
    from optuna.storages.journal import JournalFileBackend as File, JournalRedisBackend as Redis
except ImportError:
    from optuna.storages import JournalFileStorage as File, JournalRedisStorage as Redis


class PatientFile(File):
    """Reads again if a line came in two pieces, which ends Optuna 3.1 if more follow."""

    def read_logs(self, *args):
        for _ in range(20):
            try:
                return list(super().read_logs(*args))
            except json.JSONDecodeError:
                time.sleep(0.01)
        return list(super().read_logs(*args))


kind, *where, count = sys.argv[1:]
backend = PatientFile(where[0]) if kind == "file" else Redis(where[0], prefix=where[1])
storage = optuna.storages.JournalStorage(backend)
try:
    study = optuna.load_study(study_name="both", storage=storage)
except KeyError:
    study = optuna.create_study(study_name="both", storage=storage)


def objective(trial):
    radius = trial.suggest_float("radius", 0.1, 1.5)
    penalty = trial.suggest_float("lambda", 1e-10, 1, log=True)
    size = trial.suggest_int("size", 50, 400, step=50)
    trial.suggest_int("units", 1, 256, log=True)
    topology = trial.suggest_categorical("topology", ["erdosRenyi", "ring", None, True])
    value = (radius - 0.9) ** 2 + 0.1 * (math.log10(penalty) + 6) ** 2 + size / 400
    trial.report(value, 100)
    trial.set_user_attr("by", "optuna")
    return value + (0 if topology == "ring" else 0.3)


study.optimize(objective, n_trials=int(count))
# JSON has no infinity: 1e999 is read as one.
text = json.dumps(
    {
        "version": optuna.__version__,
        "best": [study.best_trial.number, study.best_value],
        "trials": [[trial.state.name, trial.value, trial.params] for trial in study.trials],
    }
)
print(text.replace("Infinity", "1e999"))
