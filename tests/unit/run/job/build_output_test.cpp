#include "run/job/build_output.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

TEST_CASE("build output: of an image build the steps are told, each once, and errors") {
    BuildNarrator narrator;
    CHECK(narrator.tell("#1 [internal] load build definition from Dockerfile").empty());
    CHECK(narrator.tell("#7 [devel 2/4] RUN apt-get update") == "[devel 2/4] RUN apt-get update");
    CHECK(narrator.tell("#7 [devel 2/4] RUN apt-get update").empty());
    CHECK(narrator.tell("#7 0.512 Get:1 http://mirror").empty());
    CHECK(narrator.tell("#7 DONE 3.1s").empty());
    CHECK(narrator.tell("#7 CACHED").empty());
    CHECK(narrator.tell("#8 ERROR: executor failed running") == "ERROR: executor failed running");
    CHECK(narrator.tell("").empty());
    CHECK(narrator.tell("#").empty());
    CHECK(narrator.tell("no number").empty());
    CHECK(narrator.tell("STEP 1/4: FROM scratch") == "STEP 1/4: FROM scratch");  // podman's
    CHECK(narrator.tell("[2/4] STEP 3/7: RUN true") == "[2/4] STEP 3/7: RUN true");
    CHECK(narrator.tell("--> Using cache 54c47b8c1b2a").empty());
    CHECK(narrator.tell("[1/4] COMMIT localhost/a:b").empty());
    CHECK(narrator.tell("NO STEP").empty());
    CHECK(narrator.tell("#9 [suite 1/2] " + std::string(500, 'x')).size() == 100);
}

TEST_CASE("build output: the line that says why a build failed") {
    CHECK(build_error("#8 3.2 Reading package lists...\n#8 4.1 E: Unable to locate package g++-99\n"
                      "#8 ERROR: executor failed running [/bin/sh -c apt-get]: exit code: 100\n------\n > "
                      "[devel 1/2]:\n------\n"
                      "executor failed running [/bin/sh -c apt-get]: exit code: 100\n") ==
          "E: Unable to locate package g++-99");
    // A step whose last words name no error, and words of another step that look like one.
    CHECK(build_error("#1 transferring dockerfile: 5.85kB 0.0s done\n#6 [runtime 2/3] RUN useradd app\n#6 "
                      "sha256:b39e79\n"
                      "#6 0.120 /bin/sh: 1: useradd: not found\n#6 ERROR: executor failed running [/bin/sh]: "
                      "exit code: 127\n") == "/bin/sh: 1: useradd: not found");
    CHECK(build_error(
              "#9 1.0 ERROR: No matching distribution found for torch==9.9.9\n#9 1.1 WARNING: pip is old\n"
              "#9 ERROR: executor failed running [/bin/sh]: exit code: 1\n") ==
          "ERROR: No matching distribution found for torch==9.9.9");
    CHECK(build_error("#10 7.9 error: Failed to install cpython-3.12.16-linux-x86_64-gnu\n"
                      "#10 7.9   cause: Hash mismatch for `cpython-3.12.16-linux-x86_64-gnu`\n#10 7.9 \n"
                      "#10 7.9          Expected:\n#10 7.9          6a9e\n"
                      "#10 ERROR: executor failed running [/bin/sh -c uv python install]: exit code: 1\n") ==
          "error: Failed to install cpython-3.12.16-linux-x86_64-gnu: Hash mismatch for "
          "`cpython-3.12.16-linux-x86_64-gnu`");
    CHECK(build_error("#9 1.0 ERROR: No matching distribution found for torch==9.9.9\n"
                      "process \"/bin/sh\" did not complete successfully: exit code: 1\n") ==
          "#9 1.0 ERROR: No matching distribution found for torch==9.9.9");
    // podman: what went to stderr, its summary, and then what went to stdout.
    CHECK(build_error(
              "two\n/bin/sh: 1: nosuch: not found\nError: building at STEP \"RUN nosuch\": while running "
              "runtime: exit status 127\nSTEP 3/4: RUN nosuch\none\n") == "/bin/sh: 1: nosuch: not found");
    CHECK(build_error(
              "E: Unable to locate package g++-99\nError: building at STEP \"RUN apt-get\": while running "
              "runtime: exit status 100\nReading package lists...\n") ==
          "E: Unable to locate package g++-99");
    CHECK(build_error(
              "Error: building at STEP \"RUN false\": while running runtime: exit status 1\nSTEP 2/2: RUN "
              "false\n") == "Error: building at STEP \"RUN false\": while running runtime: exit status 1");
    // pip gives up lines after it was refused.
    CHECK(
        build_error(
            "#9 0.9 WARNING: Retrying (Retry(total=0)) after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: "
            "CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain (_ssl.c:992)'))': "
            "/simple/uv/\n#9 1.0 ERROR: No matching distribution found for uv==0.13.8\n"
            "#9 ERROR: executor failed running [/bin/sh]: exit code: 1\n") ==
        "ERROR: No matching distribution found for uv==0.13.8; a certificate was not trusted (certificate verify failed: "
        "self-signed certificate in certificate chain): name your site's by --ca-bundle FILE");
    CHECK(
        build_error("#9 0.9 error: Failed to fetch: `https://files.example.org/a.whl`\n"
                    "#9 0.9   cause: invalid peer certificate: UnknownIssuer\n"
                    "#9 ERROR: executor failed running [/bin/sh]: exit code: 1\n") ==
        "error: Failed to fetch: `https://files.example.org/a.whl`: invalid peer certificate: UnknownIssuer; a certificate was "
        "not trusted (invalid peer certificate: UnknownIssuer): name your site's by --ca-bundle FILE");
    CHECK(build_error("error: No solution found when resolving dependencies\n"
                      "  cause: Because demo was not found in the package registry\n"
                      "Error: building at STEP \"RUN uv\": while running runtime: exit status 1\n"
                      "[2/2] STEP 5/20: RUN uv\n") ==
          "error: No solution found when resolving dependencies: Because demo was not found in the package "
          "registry");
    CHECK(build_error("something\nthe last word\n") == "the last word");
    CHECK(build_error("").empty());
    CHECK(build_error("error: \x1b[2J" + std::string(1000, 'y')).size() == 300);
}

TEST_CASE("build output: what passes by itself is told from what does not") {
    for (const auto* passes :
         {"toomanyrequests: You have reached your pull rate limit",
          "unexpected status code 503 Service Unavailable",
          "E: Failed to fetch http://archive.example.org/x.deb  502  Bad Gateway [IP: 1.2.3.4 80]",
          "Temporary failure resolving 'archive.example.org'", "net/http: TLS handshake timeout",
          "read: connection reset by peer",
          "error sending request for url (https://wheels.example.org/simple/)", "curl: (56) Recv failure",
          "dial tcp 1.2.3.4:443: i/o timeout", "HTTP 429 too many requests"}) {
        INFO(passes);
        CHECK(heals_by_itself(fmt::format("#5 0.1 begin\n#5 2.2 {}\n#5 ERROR: executor failed", passes)));
    }
    for (const auto* stays : {"",
                              "E: Unable to locate package g++-99",
                              "manifest unknown: 404 Not Found",
                              "401 Unauthorized",
                              "E: Failed to fetch http://archive.example.org/x.deb  404  Not Found",
                              "No space left on device",
                              "ERROR: No matching distribution found for torch==9.9.9",
                              "certificate verify failed",
                              "error: 4290 modules were compiled",
                              "exit code: 1",
                              "nvcc fatal: Unsupported gpu architecture",
                              "no such host",
                              "x509: certificate signed by unknown authority",
                              "Hash mismatch for cpython",
                              "AssertionError: torch.version.cuda is 12.4",
                              "denied: requested access to the resource is denied",
                              "executor failed running [/bin/sh -c sleep 503]",
                              "Segmentation fault",
                              "Killed",
                              "permission denied"}) {
        INFO(stays);
        CHECK_FALSE(
            heals_by_itself(fmt::format("#5 0.1 begin\n#5 2.2 {}\n#5 ERROR: executor failed", stays)));
    }
}

TEST_CASE("build output: the last lines of a log") {
    const test::TempFolder folder;
    const auto log = folder / "build.log";
    std::ofstream(log) << "one\ntwo\nthree\n\n";
    CHECK(last_lines(log, 2) == std::vector<std::string>{"two", "three"});
    CHECK(last_lines(log, 9) == std::vector<std::string>{"one", "two", "three"});
    CHECK(last_lines(folder / "none.log", 2).empty());
}
