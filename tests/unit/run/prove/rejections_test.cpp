// `test --prove-rejected` with a fake engine, whose builds export what a test put there.
#include "run/prove/rejection_attempt.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <thread>

#include "fakes/fake_docker.hpp"
#include "matrix/condition.hpp"
#include "matrix/matrix_file.hpp"
#include "render/files/attempt.hpp"
#include "render/image/image_plan.hpp"
#include "run/job/job.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// Two GPUs that nvcc of 11.8 does not know, each with two drivers; and a good cell.
constexpr const char* kMatrix = R"(version: 1
name: bad
axes:
  driver: ["580.65.06", "580.82.07"]
  compute: ["10.0", "12.0", "7.5"]
set: {cuda: "11.8.0", os: debian12}
)";

class World {
  public:
    explicit World(const std::string& matrix_text = kMatrix) {
        std::ofstream(fake.root() / "matrix.yaml") << matrix_text;
        fake.script("mmdebstrap", "for last; do :; done\nprintf 'a distribution' > \"$last\"");
        settings.out = fake.root() / "out";
        settings.engine = "docker";
        settings.run_id = "r1";
        settings.screen.line = [this](std::string_view line) { progress += std::string(line) + "\n"; };
        step("attempt", "1\n", "nvcc fatal   : Unsupported gpu architecture 'compute_100'\n");
        step("control", "0\n", "");
    }

    /// What every build of the fake exports for this step.
    void step(const std::string& name, const std::string& code, const std::string& said) const {
        std::ofstream(fake.state() / "export" / (name + ".code")) << code;
        std::ofstream(fake.state() / "export" / (name + ".txt")) << said;
    }

    Result<RejectionReport> prove(const std::string& where = "compute=10.0", const std::string& cell = {}) {
        settings.environment = fake.environment;
        auto matrix = read_matrix_file(fake.root() / "matrix.yaml");
        REQUIRE(matrix.ok());
        matrix->build.network = network;
        const auto facts = Facts::embedded();
        const auto judgement = judge(*matrix, facts, {"2026-11-21"});
        REQUIRE(judgement.ok());
        Choice choice;
        choice.where_text = where;
        if (!where.empty()) choice.where = condition_from_text(where).value();
        if (!cell.empty()) choice.cells.push_back(CellPattern::parse(cell).value());
        const auto lock = read_lock(job::lock_path(*matrix));
        REQUIRE(lock.ok());
        return prove_rejections({*matrix, facts, *judgement, *lock}, settings, choice);
    }
    Failure refusal() {
        const auto got = prove();
        REQUIRE_FALSE(got.ok());
        return got.failure();
    }
    /// The report where there must be one.
    RejectionReport report(const std::string& where = "compute=10.0") {
        auto got = prove(where);
        if (!got.ok()) FAIL(got.failure().diagnostics.front().message);
        return std::move(*got);
    }
    /// The exit code, and "outcome: reason" of the only rejection that has an attempt.
    std::string only(const std::string& where = "compute=10.0") {
        const auto got = report(where);
        std::string said;
        for (const auto& one : got.rejections) {
            if (one.attempt.empty()) continue;
            CHECK(said.empty());
            said = fmt::format("{} {}: {}", got.exit_code, to_string(one.outcome), one.reason);
        }
        return said;
    }

    fakes::FakeDocker fake;
    RunSettings settings;
    std::string network = "default";
    std::string progress;
};

}  // namespace

TEST_CASE("rejections: a proof has its signature, its control and its log, and is exit 0") {
    World world;
    const auto report = world.report();
    CHECK(report.exit_code == 0);
    CHECK(report.engine == "docker");
    REQUIRE(report.rejections.size() == 1);
    const auto& one = report.rejections.front();
    CHECK(one.outcome == RejectionOutcome::proven);
    CHECK(one.rule == "cuda-supports-compute");
    CHECK(one.stage == "build");
    CHECK(one.predicted == "nvcc of CUDA 11.8.0 cannot compile for compute 10.0: its highest target is 9.0");
    CHECK(one.seen == "nvcc fatal   : Unsupported gpu architecture 'compute_100'");
    CHECK(one.attempt == "nvcc of CUDA 11.8.0 compiles for sm_100");
    CHECK(one.control == "the same file for sm_90");
    CHECK(one.log == "logs/rejected-1.log");
    const auto log = test::bytes_of(world.settings.out / one.log);
    CHECK(log.find("# step attempt: exit code 1\nnvcc fatal") != std::string::npos);
    CHECK_FALSE(fs::exists(world.settings.out / "rejected"));
}

TEST_CASE("rejections: one attempt for each projection of the rule, not for each cell") {
    World world;
    const auto report = world.report("");
    REQUIRE(report.rejections.size() == 2);
    CHECK(report.rejections[0].cells.size() == 2);
    CHECK(report.rejections[1].cells.size() == 2);
    CHECK(world.fake.calls("build").size() == 2);
    CHECK(report.rejections[1].outcome ==
          RejectionOutcome::inconclusive);  // the fake says compute_100 to both
    CHECK(report.exit_code == 1);
}

TEST_CASE("rejections: cells are chosen by their ids, patterns and values as well") {
    World world;
    const auto cells_of = [&](const std::string& where, const std::string& cell) {
        const auto report = world.prove(where, cell);
        REQUIRE(report.ok());
        std::vector<std::string> ids;
        for (const auto& rejection : report->rejections)
            ids.insert(ids.end(), rejection.cells.begin(), rejection.cells.end());
        return ids;
    };
    const auto all = cells_of("", "");
    REQUIRE(all.size() == 4);
    CHECK(cells_of("", all[1]) == std::vector<std::string>{all[1]});
    CHECK(cells_of("", "compute=12.0").size() == 2);
    CHECK(cells_of("", "*").size() == 4);
    CHECK(cells_of("compute=10.0", "compute=12.0").empty());
    CHECK(cells_of("", "compute=7.5").empty());
    const auto refused = world.prove("", all[1] + "x");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.failure().code == ExitCode::bad_input);
    CHECK(refused.failure().diagnostics.front().fix == fmt::format("did you mean {}?", all[1]));
}

TEST_CASE("rejections: findings that come down to the same attempt share it") {
    World world(R"(version: 1
name: same
axes:
  gpu: [B200, GB200]
set: {cuda: "11.8.0", os: debian12}
)");
    const auto report = world.report("");
    std::size_t proven = 0;
    for (const auto& one : report.rejections)
        proven += one.rule == "cuda-supports-compute" && one.outcome == RejectionOutcome::proven ? 1 : 0;
    CHECK(proven == 2);
    CHECK(world.fake.calls("build").size() == 1);
}

TEST_CASE("rejections: the build is bounded to the user's network and leaves text files only") {
    World world;
    world.network = "host";
    static_cast<void>(world.report());
    const auto calls = world.fake.calls("build");
    REQUIRE(calls.size() == 1);
    const auto line = text::join(calls.front(), " ");
    CHECK(line.find("build --progress plain --network host --target seen --output type=local,dest=") == 0);
    CHECK(line.find("--no-cache") == std::string::npos);  // the layers of images are shared
    CHECK(world.fake.calls("run").empty());
}

TEST_CASE("rejections: one that works after all is a finding and exit 1") {
    World world;
    world.step("attempt", "0\n", "done\n");
    CHECK(world.only() == "1 refuted: it works after all: the rule is wrong here");
}

TEST_CASE("rejections: what falls short of a proof is inconclusive and exit 1") {
    const std::string unreadable = "the attempt shows nothing: it left no exit code that can be read";
    struct Row {
        const char *step, *code;
        std::string said, why;
    };
    for (const auto& [step, code, said, why] :
         std::vector<Row>{{"attempt", "1\n", "Segmentation fault\n",
                           "it failed with other words than the rule's: Segmentation fault"},
                          {"control", "1\n", "nvcc fatal   : Don't know what to do with 'kernel.cu'\n",
                           "its control failed too: nvcc fatal   : Don't know what to do with 'kernel.cu'"},
                          {"attempt", "124\n", "nvcc fatal   : Unsupported gpu architecture 'compute_100'\n",
                           "the attempt shows nothing: it was ended by its time limit"},
                          {"attempt", "0; true\n", "done\n", unreadable},
                          {"attempt", "1\n", std::string(5u << 20, 'x'), unreadable},
                          {"attempt", "1\n", "\x1b[2J\xff]]>\n",
                           "it failed with other words than the rule's: ?[2J?]]>"}}) {
        World world;
        world.step(step, code, said);
        CHECK(world.only() == "1 inconclusive: " + why);
    }
    World silent;
    fs::remove_all(silent.fake.state() / "export");
    fs::create_directories(silent.fake.state() / "export");
    CHECK(silent.only() == "1 inconclusive: " + unreadable);
}

TEST_CASE("rejections: an index that cannot be read proves nothing, although pip ends with the signature") {
    World world(R"(version: 1
name: python
set: {torch: 2.0.1, python: "3.12", os: debian12}
)");
    world.step(
        "attempt", "1\n",
        "ERROR: Could not find a version that satisfies the requirement torch==2.0.1 (from versions: none)\n"
        "ERROR: No matching distribution found for torch==2.0.1\n");
    world.step("control", "1\n", "ERROR: No matching distribution found for torch==2.0.1\n");
    CHECK(world.only("") ==
          "1 inconclusive: the attempt shows nothing: ERROR: Could not find a version that satisfies the "
          "requirement torch==2.0.1 (from versions: none)");
    world.step(
        "attempt", "1\n",
        "ERROR: Could not find a version that satisfies the requirement torch==2.0.1 (from versions: 2.2.0)\n"
        "ERROR: No matching distribution found for torch==2.0.1\n");
    CHECK(world.only("") ==
          "1 inconclusive: its control failed too: ERROR: No matching distribution found for torch==2.0.1");
    world.step("control", "0\n", "Would install torch-2.0.1\n");
    CHECK(world.only("") == "0 proven: ");
}

TEST_CASE("rejections: a container that cannot be made, or in time, is inconclusive") {
    World world;
    std::string expected;
    SUBCASE("the build fails") {
        world.fake.faults("build_fails");
        expected = "1 inconclusive: its container could not be made: rejected-1: the build failed: ";
    }
    SUBCASE("the build hangs") {
        world.settings.build_limit = 300ms;
        world.fake.faults("build_hangs");
        expected = "1 inconclusive: its container could not be made: rejected-1: the build failed: timed out";
    }
    SUBCASE("the base cannot be bootstrapped") {
        world.fake.script("mmdebstrap", "echo 'E: mirror gone' >&2; exit 25");
        expected =
            "1 inconclusive: the base of bookworm cannot be bootstrapped: mmdebstrap: exit code 25: E: "
            "mirror gone";
    }
    CHECK(world.only().find(expected) == 0);
}

TEST_CASE("rejections: without an engine they are not attempted, or the command fails as asked") {
    World world;
    SUBCASE("the host") {
        world.settings.engine = "host";
        world.fake.script("nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'");
        CHECK(world.only() ==
              "1 not-attempted: engine host has no throw-away containers: docker and podman attempt it");
        CHECK(world.fake.calls("build").empty());
    }
    SUBCASE("a daemon that was asked for and does not answer") {
        world.fake.faults("daemon_down");
        CHECK(world.refusal().code == ExitCode::environment);
    }
    SUBCASE("a daemon that dies in between") {
        world.fake.faults("daemon_dies");
        CHECK(world.refusal().code == ExitCode::environment);
    }
    SUBCASE("a network that is none") {
        world.network = "none";
        const auto refused = world.refusal();
        CHECK(refused.code == ExitCode::bad_input);
        CHECK(refused.diagnostics.front().message ==
              "test --prove-rejected fetches packages, and its network is none");
    }
}

TEST_CASE("rejections: what cannot be attempted counts with --strict; nothing attempted is exit 1") {
    World none("version: 1\nname: none\nset: {driver: \"390.157\", gpu: H100}\n");
    none.fake.faults("daemon_down");
    const auto nothing = none.report("");
    CHECK(nothing.exit_code == 1);
    CHECK_FALSE(nothing.rejections.empty());
    CHECK(none.fake.calls().empty());
    CHECK(none.report("gpu=T4").rejections.empty());

    World strict(
        "version: 1\nname: strict\nset: {compute: \"10.0\", driver: \"550.54.15\", cuda: \"11.8.0\", os: "
        "debian12}\n");
    CHECK(strict.report("").exit_code == 0);
    CHECK(strict.report("").count(RejectionOutcome::not_attempted) != 0);
    strict.settings.strict = true;
    CHECK(strict.report("").exit_code == 1);
}

TEST_CASE("rejections: an interrupt gives the report of what was done, with 130") {
    World world;
    Cancellation cancellation;
    world.settings.cancellation = &cancellation;
    SUBCASE("before anything") {
        cancellation.request();
    }
    SUBCASE("in the middle of an attempt") {
        world.fake.faults("build_hangs");
    }
    std::thread later([&] {
        for (int i = 0; i < 1000 && world.fake.calls("build").empty() && !cancellation.requested(); ++i)
            std::this_thread::sleep_for(10ms);
        cancellation.request();
    });
    const auto report = world.report("");
    later.join();
    CHECK(report.exit_code == 130);
    for (const auto& one : report.rejections) {
        CHECK(one.outcome == RejectionOutcome::not_attempted);
        CHECK(one.reason == "interrupted");
    }
}

TEST_CASE("rejections: the stages below an attempt are those of the proof, word for word") {
    World world;
    static_cast<void>(world.report());
    RunSettings settings = world.settings;
    settings.environment = world.fake.environment;
    const auto matrix = read_matrix_file(world.fake.root() / "matrix.yaml");
    const auto facts = Facts::embedded();
    const auto judgement = judge(*matrix, facts, {"2026-11-21"});
    const std::optional<Lock> no_lock;
    REQUIRE(render_images({*matrix, facts, *judgement, no_lock}, settings).ok());
    const auto dockerfile =
        test::bytes_of(world.settings.out / "images" / "debian12-cu11.8.0" / "proof.Dockerfile");
    // The fake keeps no context; the same one is made again.
    const auto from = dockerfile.find("FROM base AS devel");
    const auto devel = dockerfile.substr(from, dockerfile.find("# The kernel suite") - from);
    REQUIRE(devel.size() > 200);
    Image image;
    for (const auto& judged : judgement->cells) {
        auto plan = plan_images(*matrix, {{judged.cell, judged.id}}, facts);
        REQUIRE(plan.images.size() == 1);
        image = plan.images.front();
    }
    AttemptRequest request;
    request.compiles = true;
    request.steps = {{"attempt", {"A=$(id)"}, {"echo", "it's; $HOME"}, 7}};
    const auto context = attempt_context(*matrix, image, {}, request, "r1", {});
    REQUIRE(context.ok());
    const auto& attempt = context->front().content;
    CHECK(attempt.find(devel) != std::string::npos);
    CHECK(attempt.find("    { LC_ALL=C timeout --kill-after=5 7 env 'A=$(id)' echo 'it'\\''s; $HOME' > "
                       "/seen/attempt.txt 2>&1 < /dev/null; echo \"$?\" > /seen/attempt.code; }\n") !=
          std::string::npos);
}
