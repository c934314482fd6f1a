"""Launchers: text that starts a run on other machines with Slurm, `ray up`, KubeRay or `ray job submit`. Ray
is not imported."""
