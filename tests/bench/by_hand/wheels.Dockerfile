# In the idiom of RAPIDS' CI images, the toolkit from NVIDIA's wheels as its users install them.
FROM by-hand-base
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update -y && apt-get install -y --no-install-recommends g++ python3 python3-pip && rm -rf /var/lib/apt/lists/*
RUN --mount=type=secret,id=ca PIP_CERT=/run/secrets/ca pip install --break-system-packages --no-cache-dir 'cuda-toolkit[nvcc,cudart,cccl]==13.4.3'
CMD ["/bin/bash"]
