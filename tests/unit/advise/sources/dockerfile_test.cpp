#include <doctest/doctest.h>

#include "steps.hpp"

namespace cudamatrix {
namespace {

std::string read(std::string_view text, const sources::ReadOptions& options = {}) {
    return tests::show(sources::read(sources::Kind::dockerfile, "Dockerfile", std::string(text), options));
}

// What one RUN does.
std::string run(std::string_view command, std::string_view before = {}) {
    const auto out = read(fmt::format("FROM a\n{}RUN {}\n", before, command));
    CHECK(out.starts_with("a\n"));
    return out.substr(2);
}

TEST_CASE("instructions: case, continuations, comments in them, another escape, line ends of Windows") {
    CHECK(
        read(
            "# syntax=docker/dockerfile:1\n\nfrom a aS Base\nrun pip install \\\n  # torch==1.0\n\n  torch==2.1.0 \\  \n  numpy\n") ==
        "a as base\n  pip: torch==2.1.0@7:3 numpy@8:3\n");
    CHECK(read("# escape=`\nFROM a\nRUN pip install `\n  torch\n") == "a\n  pip: torch@4:3\n");
    CHECK(read("FROM a\r\nRUN pip install \\\r\n  torch==2\r\n") == "a\n  pip: torch==2@3:3\n");
    CHECK(read("RUN pip install torch\n") == "skipped 1:1: the file: no FROM in it\n");
    CHECK(read("") == "skipped 1:1: the file: no FROM in it\n");
}

TEST_CASE("FROM: platforms, digests, stages on stages, arguments before it") {
    CHECK(
        read(
            "ARG V=12.4.1\nARG OS=ubuntu22.04\nFROM --platform=linux/arm64 nvidia/cuda:${V}-base-$OS AS x\nFROM x\nFROM scratch\n") ==
        "nvidia/cuda:12.4.1-base-ubuntu22.04 as x for aarch64\nx on 0 for aarch64\nnothing\n");
    CHECK(read("FROM a:1@sha256:0123\n") == "a:1@sha256:0123\n");
    CHECK(
        read("ARG KIND\nFROM base-${KIND:-gpu}\nFROM b:${NONE}\n") ==
        "base-gpu\nb:?\nskipped 3:6: the image: NONE has no value before the build; --build-arg gives one\n");
    CHECK(read("ARG TAG\nFROM a:$TAG\n", {{{"TAG", "7"}}, "x86_64"}) == "a:7\n");
    // An argument before FROM is one inside only where it is named again.
    CHECK(read("ARG V=1\nFROM a\nRUN pip install torch==$V\nARG V\nRUN pip install torch==$V\n") ==
          "a\n  pip: torch==?@3:17\n  V=1\n  pip: torch==1@5:17\n");
    CHECK(
        read(
            "FROM nvidia/cuda:12.2.0-base-ubuntu22.04\nRUN pip install -i https://example.org/cu${CUDA_VERSION%.*} torch\n") ==
        "nvidia/cuda:12.2.0-base-ubuntu22.04\n  pip: torch@2:61 index https://example.org/cu12.2@2:20\n");
}

TEST_CASE("variables: every form that takes a version apart") {
    constexpr std::string_view kHead =
        "ARG V=12.4.1\nARG P=2.6.0+cu124\nENV A=x B=\"y z\"\nENV OLD the rest\n";
    const auto value = [&](std::string_view text) {
        const auto out = read(fmt::format("FROM a\n{}ENV R={}\n", kHead, text));
        return out.substr(out.rfind('=') + 1);
    };
    for (const auto& one : std::vector<std::pair<std::string, std::string>>{{"$V", "12.4.1\n"},
                                                                            {"${V%.*}", "12.4\n"},
                                                                            {"${V%%.*}", "12\n"},
                                                                            {"${V#*.}", "4.1\n"},
                                                                            {"${V##*.}", "1\n"},
                                                                            {"${V//./}", "1241\n"},
                                                                            {"${V/.*/}", "12\n"},
                                                                            {"${V/*+/}", "12.4.1\n"},
                                                                            {"${P/*+/}", "cu124\n"},
                                                                            {"${P/+*/}", "2.6.0\n"},
                                                                            {"${P/[+]/}", "?\n"},
                                                                            {"${P/\\*/}", "?\n"},
                                                                            {"${V//.?/x}", "12xx\n"},
                                                                            {"${V/#12/13}", "13.4.1\n"},
                                                                            {"${V/#4/5}", "12.4.1\n"},
                                                                            {"${V/%.1/.2}", "12.4.2\n"},
                                                                            {"${V/%.4/x}", "12.4.1\n"},
                                                                            {"${V/#/cu}", "cu12.4.1\n"},
                                                                            {"${V//\\./_}", "12_4_1\n"},
                                                                            {"${V/./-}", "12-4.1\n"},
                                                                            {"${V:0:2}", "12\n"},
                                                                            {"${V:3}", "4.1\n"},
                                                                            {"${N:-d$A}", "dx\n"},
                                                                            {"${V:+set}", "set\n"},
                                                                            {"'$V'", "$V\n"},
                                                                            {"\\$V", "$V\n"},
                                                                            {"\"$B\"", "y z\n"},
                                                                            {"$OLD", "the rest\n"},
                                                                            {"${V:-", "?\n"},
                                                                            {"${N}", "?\n"},
                                                                            {"${V^^}", "?\n"},
                                                                            {"${V%$N}", "12.4.1\n"},
                                                                            {"$(date)", "?\n"},
                                                                            {"${}", "?\n"},
                                                                            {"a$", "a$\n"}}) {
        CAPTURE(one.first);
        CHECK(value(one.first) == one.second);
    }
}

TEST_CASE("pip: spellings of the program, options before and after, quotes, several indexes") {
    CHECK(run("pip3.11 --no-cache-dir install -U torch==2.1") ==
          "  pip of python 3.11, upgrading: torch==2.1@2:39\n");
    CHECK(
        run("/opt/venv/bin/python -u -m pip install torch===2.1.0 'numpy<2' \"x[a,b]>=1 ; python_version<'3.9'\"") ==
        "  pip: torch===2.1.0@2:44 numpy<2@2:58 x>=1 if python_version<'3.9'@2:68\n");
    CHECK(
        run("PIP_INDEX_URL=u sudo -H env A=b pip install --index-url=https://a.example.org -i https://b.example.org --extra-index-url c -f d -r r.txt --break-system-packages torch") ==
        "  PIP_INDEX_URL=u\n  pip, into the system: torch@2:166 index https://a.example.org@2:61 index https://b.example.org@2:86 extra c@2:126 links d@2:131 -r r.txt@2:136\n");
    CHECK(run("pip install -e . ./wheels/a.whl git+https://example.org/x.git -t /d") ==
          "  pip, into the system:\n");
    CHECK(run("pip install https://example.org/cu121/torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl") ==
          "  pip: torch=https://example.org/cu121/torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl@2:17\n");
    CHECK(run("pip uninstall -y torch torch_vision") == "  uninstall: torch torch-vision\n");
    CHECK(run("pip config set global.extra-index-url https://e.example.org") ==
          "  PIP_EXTRA_INDEX_URL=https://e.example.org\n");
    CHECK(run("pip list && python3 -m http.server && pip download torch") == "");
    CHECK(run("uv pip install --system --python 3.12 --torch-backend=cu128 torch") ==
          "  uv of python 3.12: torch@2:65 index torch-backend:cu128@2:59\n");
    CHECK(
        run("uv venv -p python3.11 && uv sync --frozen && poetry install && uv python install 3.12") ==
        "  venv is python 3.11\n  uv: -r uv.lock@2:30\n  poetry: -r poetry.lock@2:50\n  venv is python 3.12\n");
}

TEST_CASE("redirections are files, and those that were meant as versions are said") {
    CHECK(run("pip install torch>=2.3 x<3 > log 2>&1") ==
          "  redirected: torch >=2.3@2:17\n  redirected: x <3@2:28\n  pip: torch@2:17 x@2:28\n");
    CHECK(run("pip install \"torch>=2.3\" torch\\>=2 >>/tmp/log </dev/null") ==
          "  pip: torch>=2.3@2:17 torch>=2@2:30\n");
    CHECK(run("pip install torch 2>err") == "  pip: torch@2:17\n");
}

TEST_CASE("conda, apt, pythons, compilers, architectures") {
    CHECK(
        run("conda install -y -c pytorch -c nvidia pytorch=2.1.0=py3.10_cuda12.1 \"python>=3.9\" conda-forge::x==1 && mamba env update -f env.yml") ==
        "  conda: pytorch=2.1.0=py3.10_cuda12.1@2:43 python=>=3.9@2:73 conda-forge::x===1@2:87 from pytorch nvidia\n  conda: -r env.yml@2:128\n");
    CHECK(
        run("apt-get update && apt-get install -y --no-install-recommends cuda-toolkit-12-3 libcudnn8=8.9.7.29-1+cuda12.2") ==
        "  packages: cuda-toolkit-12-3 libcudnn8=8.9.7.29-1+cuda12.2\n");
    CHECK(
        run("ln -sf /usr/bin/python3.11 /usr/bin/python && update-alternatives --install /usr/bin/python3 python3 /usr/bin/python3.12 1") ==
        "  python is python 3.11\n  python3 is python 3.12\n");
    CHECK(
        run("python3.11 -m venv /v && python3 -m venv /w && curl https://example.org/get-pip.py | python3.10 && rm /usr/lib/python3.12/EXTERNALLY-MANAGED") ==
        "  venv is python 3.11\n  venv is python same\n  pip is python 3.10\n  unmanaged\n");
    CHECK(
        run("nvcc -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=[sm_90a,compute_90a] -arch=sm_120 k.cu") ==
        "  compiles for 8.0 9.0a 9.0a+PTX 12.0@2:19\n");
    CHECK(run("cmake -DCMAKE_CUDA_ARCHITECTURES=\"75-real;86;90-virtual;native\" .") ==
          "  compiles for 7.5 8.6 9.0+PTX@2:11\n");
    CHECK(
        read(
            "FROM a\nENV TORCH_CUDA_ARCH_LIST 8.0;9.0\nCMD [\"python3.11\", \"x\"]\nENTRYPOINT exec python y\n") ==
        "a\n  TORCH_CUDA_ARCH_LIST=8.0;9.0\n  starts: python3.11 x\n  starts: exec python y\n");
}

TEST_CASE("heredocs, exec form, scripts in scripts, other shells") {
    CHECK(run("<<EOF\nset -e\npip install torch \\\n  numpy\nEOF") == "  pip: torch@4:13 numpy@5:3\n");
    CHECK(run("<<-\"X\" bash\n\tpip install torch\n\tX") == "  pip: torch@3:14\n");
    CHECK(run("python3 - <<EOF\npip install torch\nEOF") == "");
    CHECK(run("<<EOF\n#!/usr/bin/env python3\npip install torch\nEOF") == "");
    CHECK(run("[\"pip\", \"install\", \"torch>=2\"]") == "  pip: torch>=2@2:25\n");
    CHECK(run("[\"/bin/bash\", \"-lc\", \"pip install torch>=2\"]") ==
          "  redirected: torch >=2@2:39\n  pip: torch@2:39\n");
    CHECK(run("bash -c 'pip install \"torch>=2\"'") == "  pip: torch>=2@2:13\n");
    CHECK(run("conda run -n x --no-capture-output pip install torch") == "  pip: torch@2:52\n");
    CHECK(run("--mount=type=cache,target=/c --mount=type=bind,from=Build,target=/b pip install torch") ==
          "  copy from build: \n  pip: torch@2:85\n");
    CHECK(run("pip install torch", "SHELL [\"powershell\", \"-Command\"]\n") ==
          "skipped 3:1: RUN: its shell is none that is read here\n");
    CHECK(
        read(
            "FROM a\nCOPY --from=0 --chown=a /usr/local /usr/local\nCOPY [\"a b\", \"c/\"]\nADD r.txt /tmp/\n") ==
        "a\n  copy from 0: /usr/local\n  copy: a b to c/\n  copy: r.txt to /tmp/\n");
}

TEST_CASE("conditions: what is known is followed, what is not is skipped and said") {
    CHECK(
        run("if [ \"$D\" = gpu ]; then pip install a; elif [ -z \"$D\" ]; then pip install b; else pip install c; fi",
            "ARG D=gpu\n") == "  D=gpu\n  pip: a@3:41\n");
    CHECK(run("if [ \"$D\" != gpu ]; then pip install a; else pip install c; fi && pip install d",
              "ARG D=gpu\n") == "  D=gpu\n  pip: c@3:62\n  pip: d@3:83\n");
    CHECK(
        run("case \"$D\" in cpu|none) pip install a ;; g*) pip install b ;; *) pip install c ;; esac; pip install d",
            "ARG D=gpu\n") == "  D=gpu\n  pip: b@3:61\n  pip: d@3:104\n");
    CHECK(run("[ \"$D\" = gpu ] && pip install a || pip install b", "ARG D=gpu\n") ==
          "  D=gpu\n  pip: a@3:35\nskipped 3:40: pip install: whether it runs is known in the build only\n");
    CHECK(run("[ \"$D\" = cpu ] && pip install a; pip install b", "ARG D=gpu\n") ==
          "  D=gpu\n  pip: b@3:50\n");
    CHECK(run("if [ \"$U\" = x ]; then pip install a; fi; pip install b", "ARG U\n") ==
          "  pip: b@3:58\nskipped 3:27: pip install: whether it runs is known in the build only\n");
    CHECK(
        run("for p in a b; do pip install $p; done; while true; do pip install c; done") ==
        "  pip:\nskipped 2:34: an argument of pip: its text is known in the build only\nskipped 2:59: pip install: whether it runs is known in the build only\n");
    CHECK(
        run("S=$(echo $V | cut -d. -f1-2 | tr -d .) && pip install torch==$S; pip install torch==$(echo ${V} | awk x)",
            "ARG V=12.4.1\n") == "  V=12.4.1\n  pip: torch==124@3:59\n  pip: torch==?@3:82\n");
    CHECK(run("V=1 && export W=$V.2; pip install torch==$W; X=$(date); pip install torch==$X") ==
          "  W=1.2\n  pip: torch==1.2@2:39\n  pip: torch==?@2:73\n");
}

TEST_CASE("whatever the text, reading ends and fails nowhere") {
    std::string deep = "FROM a\nRUN echo ";
    for (int i = 0; i < 5000; ++i)
        deep += "${A:-";
    CHECK(read(deep) == "a\n");
    std::string stages;
    for (int i = 0; i < 600; ++i)
        stages += "FROM a\n";
    CHECK(read(stages).ends_with("a\nskipped 501:1: FROM: no more than 500 stages are read\n"));
    CHECK(run("-gencode=ar nvcc \"-gencode=x -gencode arch=compute_80,code=sm_80\"") ==
          "  compiles for 8.0@2:22\n");
    std::string many = "FROM a\nRUN ";
    for (int i = 0; i < 5000; ++i)
        many += "if case ( { [ x && ";
    CHECK(read(many).starts_with("a\n"));
    CHECK(read("FROM a\nRUN case x ;; a ;; esac b) c ;; esac").starts_with("a\n"));
    for (const std::string_view text :
         {"FROM", "FROM a\nRUN", "FROM a\nRUN <<", "FROM a\nRUN <<E", "FROM a\nRUN [", "FROM a\nRUN [\"",
          "FROM a\nCOPY", "FROM a\nENV", "FROM a\nARG", "FROM a\nRUN esac fi done ;; )", "FROM a\nRUN case",
          "FROM a\nRUN case x in", "FROM a\nRUN 'x", "FROM a\nRUN \"x", "FROM a\nRUN `x",
          "FROM a\nRUN pip install", "FROM a\nRUN pip install -r", "FROM a\nRUN $(", "FROM a\nRUN \\"}) {
        CAPTURE(text);
        CHECK(read(text).find("pip install torch") == std::string::npos);
    }
}

}  // namespace
}  // namespace cudamatrix
