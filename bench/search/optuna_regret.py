"""Regret of Optuna's default sampler on the functions of regret.mjs. Usage: optuna_regret.py OUT.json SEEDS"""
import json, math, sys, warnings

warnings.filterwarnings("ignore")
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
P = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991], [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
ALPHA = [1.0, 1.2, 3.0, 3.2]


def branin(p):
    x, y = p
    return (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann(p):
    return -sum(ALPHA[i] * math.exp(-sum(A[i][j] * (p[j] - 1e-4 * P[i][j]) ** 2 for j in range(6))) for i in range(4))


def rosenbrock(p):
    return sum(100 * (p[i + 1] - p[i] ** 2) ** 2 + (1 - p[i]) ** 2 for i in range(len(p) - 1))


FUNCTIONS = {
    "branin": (branin, [(-5, 10), (0, 15)], False, 0.39788735772973816),
    "hartmann6": (hartmann, [(0, 1)] * 6, False, -3.322368011415515),
    "rosenbrock5log": (rosenbrock, [(0.01, 10)] * 5, True, 0.0),
}
out, seeds = sys.argv[1], int(sys.argv[2])
regret = {}
for name, (f, bounds, log, least) in FUNCTIONS.items():
    regret[name] = {"64": [], "256": []}
    for seed in range(seeds):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        best = math.inf
        for k in range(256):
            trial = study.ask()
            value = f([trial.suggest_float(f"x{j}", low, high, log=log) for j, (low, high) in enumerate(bounds)])
            study.tell(trial, value)
            best = min(best, value)
            if k + 1 in (64, 256):
                regret[name][str(k + 1)].append(best - least)
json.dump({"version": optuna.__version__, "regret": regret}, open(out, "w"))
