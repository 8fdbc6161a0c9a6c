#include "support.hpp"

using namespace cudamatrix;
using matrix_test::accepted;
using Ids = std::vector<std::string>;

namespace {

std::string build_of(const Matrix& matrix) {
    const auto& build = matrix.build;
    return fmt::format("{} {} {} {}", build.ca_bundle, build.network, build.user, build.workdir);
}

}  // namespace

TEST_CASE("everything that a file can say is kept") {
    const auto matrix = accepted(
        "version: 1\nname: training\nexpect_cells: 1\naxes: {cuda: \"12.4.1\"}\nstages: [install, runtime]\n"
        "build: {ca_bundle: /etc/ssl/../ssl/site-ca.pem, network: host, user: ci_user, workdir: /srv/app}\n"
        "mirrors: {docker.io: registry.example.org/hub, pypi: https://mirror.example.org/simple/, "
        "localhost:5000: registry.example.org, nvcr.io: http://plain.example.org:5000/ngc,\n"
        "          https://files.example.org/whl: http://mirror.example.org:8080/whl}\n");
    CHECK(matrix.name == "training");
    CHECK(matrix.path == "matrix.yaml");
    CHECK(matrix.expect == Expect{1, {}, false});
    CHECK(matrix.stages == Ids{"install", "runtime"});
    CHECK(build_of(matrix) == "/etc/ssl/site-ca.pem host ci_user /srv/app");
    CHECK(matrix.mirrors == Mirrors{{"docker.io", "registry.example.org/hub"},
                                    {"pypi", "https://mirror.example.org/simple"},
                                    {"localhost:5000", "registry.example.org"},
                                    {"nvcr.io", "http://plain.example.org:5000/ngc"},
                                    {"https://files.example.org/whl", "http://mirror.example.org:8080/whl"}});
    CHECK(matrix.warnings.empty());
    CHECK(matrix.named.contains(Field::cuda));
    CHECK_FALSE(matrix.named.contains(Field::gpu));
}

TEST_CASE("defaults are those of the header") {
    const auto matrix = accepted("version: 1\nset: {cuda: 12}\n");
    CHECK(matrix.name == "matrix");
    CHECK(matrix.expect == Expect{});
    CHECK(matrix.stages.empty());
    CHECK(build_of(matrix) == " default app /workspace");
}

TEST_CASE("a name comes from the file's stem, fit for a folder") {
    const auto name_of = [](std::string_view path) {
        const auto result = read_matrix_text("version: 1\nset: {cuda: 12}\n", path);
        REQUIRE(result.ok());
        return result->name;
    };
    CHECK(name_of("a/training.yaml") == "training");
    CHECK(name_of("my matrix (2).yaml") == "my_matrix__2_");
    CHECK(name_of("..yaml") == "matrix");
    CHECK(name_of("-x.yaml") == "matrix");
    CHECK(name_of("") == "matrix");
}

TEST_CASE("a snapshot is auto, none, a day or a time") {
    const auto snapshot = [](const std::string& value) {
        return accepted("version: 1\nset: {cuda: 12}\nbuild: {snapshot: " + value + "}\n").build.snapshot;
    };
    CHECK(snapshot("2026-11-01") == "20261101T000000Z");
    CHECK(snapshot("\"2026-02-28\"") == "20260228T000000Z");
    CHECK(snapshot("20261101T235959Z") == "20261101T235959Z");
    CHECK(snapshot("auto") == "auto");
    CHECK(snapshot("none") == "none");
    CHECK(accepted("version: 1\nset: {cuda: 12}\n").build.snapshot == "auto");
    for (const std::string value :
         {"2026-02-29", "2026-13-01", "26-11-01", "2026-11-01 ", "2026-11-01T00:00:00Z", "20261101",
          "20261101T240000Z", "20261101T006000Z", "20261101T000060Z", "20260230T000000Z", "20261101t000000z",
          "20261101T0000 0Z", "latest", "", "Auto", "NONE", "auto ", "../x", "20261101T000000Z/"}) {
        CHECK(matrix_test::refusal("version: 1\nset: {cuda: 12}\nbuild: {snapshot: \"" + value + "\"}\n") ==
              "3:19: invalid snapshot \"" + value +
                  "\": expected auto, none, a day such as 2026-11-01 or a time such as "
                  "20261101T120000Z");
    }
}

TEST_CASE("a relative CA bundle is next to the matrix file") {
    const auto result = read_matrix_text("version: 1\nset: {cuda: 12}\nbuild: {ca_bundle: ../certs/ca.pem}\n",
                                         "/srv/project/matrix.yaml");
    REQUIRE(result.ok());
    CHECK(result->build.ca_bundle == "/srv/certs/ca.pem");
    const auto here = accepted("version: 1\nset: {cuda: 12}\nbuild: {ca_bundle: ca.pem}\n");
    CHECK(here.build.ca_bundle == (std::filesystem::current_path() / "ca.pem").string());
    CHECK(here.build.ca_bundle_beside == "ca.pem");
    CHECK(result->build.ca_bundle_beside == "../certs/ca.pem");
    const std::string text = "version: 1\nset: {cuda: 12}\nbuild: {netrc: site.netrc}\n";
    const auto cut = read_matrix_text(text, "/srv/a,env=TOKEN/matrix.yaml");
    REQUIRE_FALSE(cut.ok());
    CHECK(render(cut.failure().diagnostics.front(), text) ==
          "/srv/a,env=TOKEN/matrix.yaml:3:9: error: netrc: \"/srv/a,env=TOKEN/site.netrc\" has a comma or a "
          "quote in its path: engines would cut it there\n"
          "  3 | build: {netrc: site.netrc}\n"
          "    |         ^~~~~\n"
          "  fix: move the file to a folder without them\n");
}

TEST_CASE("the longest texts and each word of a closed list are accepted") {
    const auto emit = [](const std::string& slurm) {
        return accepted("version: 1\nset: {cuda: 12}\nemit: {slurm: " + slurm + "}\n").emit;
    };
    for (const std::string start : {"run", "pyxis", "apptainer", "podman"})
        CHECK(emit("{start: " + start + "}").start == start);
    CHECK(emit("{partition: " + std::string(64, 'p') + "}").partition.size() == 64);
    const auto variable = [](std::size_t length) {
        return "version: 1\nset: {cuda: 12, env: {A: " + std::string(length, 'v') + "}}\n";
    };
    CHECK(accepted(variable(256)).source == variable(256));
    CHECK(matrix_test::refusal(variable(257))
              .ends_with("expected up to 256 letters, digits, spaces and _ . / : , ; = + @ % ~ -"));
}

TEST_CASE("CRLF and a byte order mark change nothing") {
    const std::string text = "version: 1\naxes:\n  cuda: [\"12.4.1\"]\n  gpu: T4\n";
    std::string windows = "\xEF\xBB\xBF" + text::replace_all(text, "\n", "\r\n");
    CHECK(matrix_test::ids(accepted(windows)) == matrix_test::ids(accepted(text)));
    CHECK(accepted(windows).source == text);
}
