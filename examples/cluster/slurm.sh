#!/bin/bash
#SBATCH --job-name=spillway-search
#SBATCH --array=0-39
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
# A search on many nodes: sbatch slurm.sh FILE.yaml [flags of spillway search].
# SPILLWAY_STORAGE, a path that all nodes see or redis://host:6379/0?prefix=name, is the journal that
# they share. Without it each task takes a part that shares nothing (sampler random, sobol or grid).
# A minute before its time is over a task finishes what it has in work, gives back what takes longer
# than 30 seconds, and asks to be queued again. So it does if the storage stays away.
set -euo pipefail
experiment=${1:?usage: sbatch slurm.sh FILE.yaml [flags of spillway search]}
shift
if [ -n "${SPILLWAY_STORAGE:-}" ]; then
  where=(--storage "$SPILLWAY_STORAGE" --out "${TMPDIR:-/tmp}/spillway-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID")
else
  where=(--shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT")
fi

stopped=
spillway search "$experiment" "${where[@]}" --workers "${SLURM_CPUS_PER_TASK:-1}" --no-refit --quiet "$@" &
search=$!
trap 'stopped=yes; kill -TERM "$search"' TERM
code=0
wait "$search" || code=$?
if [ -n "$stopped" ]; then
  # The first wait ended with the signal; this one ends with the search.
  code=0
  wait "$search" || code=$?
fi
# 75: work is left.
if [ "$code" = 75 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  exit 0
fi
exit "$code"
