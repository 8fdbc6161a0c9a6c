// make-base.sh, run by the shell with a mmdebstrap that writes down what it is asked.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "base/process.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "render/files/artifacts.hpp"
#include "temp_folder.hpp"
#include "unit/render/planned.hpp"

namespace fs = std::filesystem;
using namespace cudamatrix;

namespace {

constexpr std::string_view kTwoSuites = R"(include:
  - {cuda: "11.8.0", os: debian12}
  - {cuda: "11.8.0", os: debian12, flavour: devel}
  - {cuda: "13.4.3", os: debian13}
  - {family: nvidia-cuda, cuda: "12.4.1", os: ubuntu22.04}
)";
constexpr std::string_view kMmdebstrap = R"(#!/bin/sh
printf '%s ' "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" >> asked.txt
printf '<%s> ' "$@" >> asked.txt
echo >> asked.txt
for word; do
    case $word in
    bootstrap/partial-*) echo "made $word" > "$word" ;;
    esac
done
)";

// An output folder of that matrix, and a mmdebstrap beside it.
class Output {
  public:
    explicit Output(const std::string& matrix, const std::string& mmdebstrap = std::string(kMmdebstrap)) {
        const auto planned = test::planned(matrix);
        RenderSettings settings;
        settings.matrix_folder = "..";
        const auto rendering = render_artifacts(planned.matrix, planned.plan.images, {}, settings);
        REQUIRE(rendering.ok());
        for (const auto& file : rendering->artifacts) {
            if (!file.path.generic_string().starts_with("suite/"))
                test::put_file(out() / file.path, file.content);
        }
        if (mmdebstrap.empty()) return;
        root_.put("bin/mmdebstrap", mmdebstrap, true);
    }

    [[nodiscard]] fs::path out() const { return root_ / "out of it"; }
    [[nodiscard]] bool has(const std::string& path) const { return fs::exists(out() / path); }
    [[nodiscard]] std::string read(const std::string& path) const { return test::bytes_of(out() / path); }

    [[nodiscard]] Outcome make(const std::vector<std::string>& bases = {}) const {
        Command command;
        command.argv = {"sh", (out() / "make-base.sh").string()};
        command.argv.insert(command.argv.end(), bases.begin(), bases.end());
        command.environment = {{"PATH", (root_ / "bin").string() + ":/usr/bin:/bin"}};
        command.time_limit = std::chrono::seconds(60);
        const auto outcome = cudamatrix::run(command);
        REQUIRE(outcome.ok());
        return *outcome;
    }

  private:
    test::TempFolder root_;
};

const std::string kBookworm = "bootstrap-bookworm.tar";
const std::string kTrixie = "bootstrap-trixie.tar";

}  // namespace

TEST_CASE("make-base.sh makes every base and gives it to the images on it") {
    const Output output{std::string(kTwoSuites)};
    const auto done = output.make();
    CHECK_MESSAGE(done.success(), done.err);
    CHECK(text::split(output.read("asked.txt"), '\n').size() == 3);
    CHECK(output.read("asked.txt").starts_with("SOURCE_DATE_EPOCH=1735689600 <--variant=apt> "));
    for (const auto& file : {kBookworm, kTrixie})
        CHECK(output.read("bootstrap/" + file) == "made bootstrap/partial-" + file + "\n");
    CHECK_FALSE(output.has("bootstrap/partial-" + kBookworm));
    CHECK(output.read("images/debian12-cu11.8.0/" + kBookworm) == output.read("bootstrap/" + kBookworm));
    CHECK(output.has("images/debian12-cu11.8.0-devel/" + kBookworm));
    CHECK_FALSE(output.has("images/debian12-cu11.8.0/" + kTrixie));
    CHECK(output.has("images/debian13-cu13.4.3/" + kTrixie));
    CHECK_FALSE(output.has("images/nvidia-cuda-ubuntu22.04-cu12.4.1/" + kBookworm));
    // A second time, over what is there.
    CHECK(output.make().success());
}

TEST_CASE("make-base.sh makes the bases that are named, and no others") {
    const Output output{std::string(kTwoSuites)};
    CHECK(output.make({"trixie"}).success());
    CHECK(output.has("bootstrap/" + kTrixie));
    CHECK_FALSE(output.has("bootstrap/" + kBookworm));
    for (const auto* bad : {"bullseye", "book", "bookworm trixie x", "*", "../x", "--help", "-n"}) {
        CAPTURE(bad);
        const Output untouched{std::string(kTwoSuites)};
        const auto refused = untouched.make({"trixie", bad});
        CHECK(refused.exit_code == 2);
        CHECK(refused.err.starts_with("make-base.sh: unknown base \""));
        CHECK(refused.err.ends_with("\": expected one of bookworm trixie\n"));
        CHECK_FALSE(untouched.has("asked.txt"));
    }
}

TEST_CASE("make-base.sh leaves nothing half made behind") {
    const Output failing(std::string(kTwoSuites), "#!/bin/sh\necho 'E: mirror gone' >&2\nexit 25\n");
    const auto failed = failing.make();
    CHECK(failed.exit_code == 25);
    CHECK(failed.err == "E: mirror gone\n");
    CHECK_FALSE(failing.has("bootstrap/" + kBookworm));
    CHECK_FALSE(failing.has("images/debian12-cu11.8.0/" + kBookworm));
    if (find_program("mmdebstrap", {{"PATH", "/usr/bin:/bin"}})) return;
    const Output without(std::string(kTwoSuites), "");
    const auto lacks = without.make();
    CHECK(lacks.exit_code == 3);
    CHECK(lacks.err.starts_with("make-base.sh: mmdebstrap is not on PATH"));
}

TEST_CASE("make-base.sh lends mmdebstrap the site's files by whole paths, quoted") {
    const Output output(std::string(kTwoSuites) +
                        "build: {ca_bundle: \"site files/ca.pem\", netrc: /etc/site.netrc}\n"
                        "mirrors: {debian: \"https://apt.example.org/debian\"}\n");
    const auto done = output.make({"bookworm"});
    CHECK_MESSAGE(done.success(), done.err);
    const auto asked = output.read("asked.txt");
    CAPTURE(asked);
    CHECK(asked.find("<--aptopt=Dir::Etc::netrc \"/etc/site.netrc\"> ") != std::string::npos);
    CHECK(asked.find("<--customize-hook=sed -i /CAInfo/d \"$1/etc/apt/apt.conf.d/99mmdebstrap\"> ") !=
          std::string::npos);
    CHECK(asked.find("<bookworm> <bootstrap/partial-bootstrap-bookworm.tar> <deb "
                     "https://apt.example.org/debian bookworm main contrib non-free> ") != std::string::npos);
    CHECK(asked.find("<--aptopt=Acquire::https::CAInfo \"" + fs::canonical(output.out()).string() +
                     "/../site files/ca.pem\"> ") != std::string::npos);
}

TEST_CASE("make-base.sh is there only for bootstrapped bases") {
    const Output none("set: {family: nvidia-cuda, cuda: \"12.4.1\", os: ubuntu22.04}\n");
    CHECK_FALSE(none.has("make-base.sh"));
    CHECK(none.has("compose.yaml"));
}

TEST_CASE("shellcheck finds nothing in make-base.sh") {
    const auto venv = (fs::path(source_dir()) / "build/venv/bin").string();
    const Environment path{{"PATH", "/usr/bin:/bin:" + venv}};
    REQUIRE_MESSAGE(find_program("shellcheck", path).has_value(),
                    "shellcheck is not on PATH and not in build/venv: tests/run.sh installs it");
    const Output output(std::string(kTwoSuites) +
                        "build: {ca_bundle: site.pem, netrc: site.netrc}\n"
                        "mirrors: {debian: \"https://apt.example.org/debian\"}\n");
    Command command;
    command.argv = {"shellcheck", "--severity=style", (output.out() / "make-base.sh").string()};
    command.environment = path;
    command.time_limit = std::chrono::seconds(60);
    const auto outcome = cudamatrix::run(command);
    REQUIRE(outcome.ok());
    CHECK_MESSAGE(outcome->success(), outcome->out, outcome->err);
}
