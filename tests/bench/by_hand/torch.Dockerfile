# In the idiom of cog's generator: the distribution, one environment block, uv, all wheels in one step. Without its server and its tini.
FROM by-hand-base
ENV DEBIAN_FRONTEND=noninteractive PYTHONUNBUFFERED=1 NVIDIA_DRIVER_CAPABILITIES=all UV_SYSTEM_PYTHON=true UV_BREAK_SYSTEM_PACKAGES=true
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked apt-get update -qq && apt-get install -qqy --no-install-recommends \
    curl ca-certificates python3 python3-pip && rm -rf /var/lib/apt/lists/*
RUN --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/uv PIP_CERT=/run/secrets/ca SSL_CERT_FILE=/run/secrets/ca sh -c \
    'pip install --break-system-packages --no-cache-dir uv && uv pip install torch==2.6.0 numpy'
WORKDIR /src
CMD ["python3"]
