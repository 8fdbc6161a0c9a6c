# In the idiom of RAPIDS' CI images: packages in one apt step, lists removed. The base has Debian's contrib and non-free.
FROM by-hand-base
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update -y && apt-get install -y --no-install-recommends nvidia-cuda-toolkit g++-11 && rm -rf /var/lib/apt/lists/*
CMD ["/bin/bash"]
