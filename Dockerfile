# An image for KubeRay (docs/cluster.md): Ray's own image has the job server and wget, which the operator needs.
# For GPUs: docker build --build-arg BASE=rayproject/ray:2.60.0-py311-gpu -t me/vera .
# The release of Ray must be the one that constraints.txt pins.
ARG BASE=rayproject/ray:2.60.0-py311
FROM ${BASE}
COPY --chown=ray:users . /home/ray/vera
RUN pip install --no-cache-dir --constraint /home/ray/vera/constraints.txt '/home/ray/vera[all]' 'ray[default]'
