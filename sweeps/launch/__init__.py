"""Files that start a run on other machines: Slurm, `ray up`, KubeRay, `ray job submit`. Text from settings;
no Ray is imported."""
