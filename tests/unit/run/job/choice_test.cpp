// Which images and cells the commands attempt: what is chosen, what stays as it was, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "unit/run/job/session_world.hpp"

using namespace cudamatrix;
using namespace cudamatrix::session_world;

namespace {

const std::string kT4 = "drv550.54.15-t4-cu11.8.0-debian12";
const std::string kH100 = "drv550.54.15-h100-cu11.8.0-debian12";
const std::string kA = "a-debian12-cu11.8.0", kB = "b-debian12-cu11.8.0";

// Image a for the T4, image b for the H100, and a cell that is rejected.
struct ChoiceWorld : World {
    ChoiceWorld()
        : World(
              "version: 1\nname: two\naxes:\n  driver: [\"550.54.15\"]\n  gpu: [T4, H100]\n  cuda: [\"11.8.0\"]\n"
              "  os: debian12\ninclude: [{driver: \"390.157\", gpu: T4, cuda: \"11.8.0\", os: debian12}]\n"
              "images:\n"
              "  - {name: a, when: {gpu: T4}, env: {MODE: a}}\n"
              "  - {name: b, when: {gpu: H100}, env: {MODE: b}}\n") {}

    Choice& choice() { return settings.choice; }
    std::string file() const { return (folder() / "matrix.yaml").string(); }
    std::vector<std::string> builds_of(const std::string& image) const {
        std::vector<std::string> found;
        for (const auto& call : fake.calls("build")) {
            auto line = text::join(call, " ");
            if (line.find(image) != std::string::npos) found.push_back(std::move(line));
        }
        return found;
    }
};

// "T4 passed_without_gpu, ..." in the order of the cells.
std::vector<std::string> outcomes(const RunReport& report) {
    std::vector<std::string> out;
    for (const auto& cell : report.cells)
        out.push_back(fmt::format("{}{}{}", to_string(cell.outcome), cell.chosen ? "" : ": ",
                                  cell.chosen ? "" : cell.reason));
    return out;
}

using Outcomes = std::vector<std::string>;

}  // namespace

TEST_CASE("choice: one image is pinned, rendered, built and tested; nothing of the other is touched") {
    ChoiceWorld world;
    world.choice().images = {kB};
    const auto report = world.ran();
    CHECK(outcomes(report) == Outcomes{"skipped: not chosen", "passed_without_gpu", "skipped: not chosen"});
    REQUIRE(report.images.size() == 1);
    CHECK(report.images[0].id == kB);
    CHECK(report.exit_code == 4);
    CHECK(report::closing_line(report) ==
          "pass-interpreted: 1 cell, 1 image: interpreted on the CPU, 1 rejected, 0 unknown, 2 not chosen");
    CHECK(world.builds_of(kA).empty());
    CHECK(world.builds_of(kB).size() == 3);
    const auto lock = read_lock(world.lock_file());
    REQUIRE(lock.ok());
    CHECK((*lock)->images.size() == 1);
    CHECK_FALSE(fs::exists(world.settings.out / "images" / kA));
    SUBCASE("--strict does not count what was not chosen") {
        world.settings.strict = true;
        CHECK(world.ran().exit_code == 4);
        world.choice() = {};
        CHECK(world.ran().exit_code == 1);  // the rejected cell is skipped
    }
    SUBCASE("--accept-static makes it 0, and no failure") {
        world.settings.accept_static = true;
        CHECK(world.ran().exit_code == 0);
        world.fake.faults("fail:" + kT4);
        world.choice() = {};
        CHECK(world.ran().exit_code == 1);
    }
}

TEST_CASE("choice: cells by id, pattern and values; of an image the other cells are not tested") {
    World world;
    world.settings.choice.cells = {CellPattern::parse("*-h100-*").value()};
    const auto report = world.ran();
    CHECK(outcomes(report) == Outcomes{"skipped: not chosen", "passed_without_gpu"});
    CHECK(report.cells[0].proof == Proof::none);
    CHECK(world.fake.calls("run").size() == 1);
    world.settings.choice.cells = {CellPattern::parse("gpu=T4,cuda=11.8").value()};
    CHECK(outcomes(world.ran()) == Outcomes{"passed_without_gpu", "skipped: not chosen"});
    world.settings.choice.cells = {CellPattern::parse(kT4).value(), CellPattern::parse(kH100).value()};
    CHECK(outcomes(world.ran()) == Outcomes{"passed_without_gpu", "passed_without_gpu"});
    CHECK(world.fake.calls("run").size() == 2);
}

TEST_CASE("choice: a rejected cell that is chosen says why it is not attempted") {
    ChoiceWorld world;
    world.choice().cells = {CellPattern::parse("driver=390").value()};
    const auto report = world.ran();
    CHECK(report.exit_code == 1);
    CHECK(report.images.empty());
    CHECK(report.cells[2].chosen);
    CHECK(report.cells[2].reason.find("driver 390.157") != std::string::npos);
    CHECK(world.fake.calls().empty());
}

TEST_CASE("choice: render writes the folder of the chosen image, and what is about all of them whole") {
    ChoiceWorld world;
    REQUIRE(world.render().ok());
    const auto out = world.settings.out;
    const auto index = content_of(out / "index.json");
    const auto compose = content_of(out / "compose.yaml");
    const auto list = content_of(out / ".cudamatrix-files");
    const auto other = out / "images" / kA / "Dockerfile";
    std::ofstream(other) << "edited";
    fs::remove(out / "images" / kB / "Dockerfile");
    fs::remove(out / "compose.yaml");
    world.choice().images = {kB};
    world.settings.prune = true;
    REQUIRE(world.render().ok());
    CHECK(content_of(other) == "edited");
    CHECK(fs::exists(out / "images" / kB / "Dockerfile"));
    CHECK(content_of(out / "index.json") == index);
    CHECK(content_of(out / "compose.yaml") == compose);
    CHECK(content_of(out / ".cudamatrix-files") == list);
    const auto drift = [&] {
        const auto compared = world.with_input(compare_render);
        REQUIRE(compared.ok());
        return compared->drift.size();
    };
    CHECK(drift() == 0);
    world.choice() = {};
    CHECK(drift() == 1);
}

TEST_CASE("choice: lock pins what is chosen and keeps all other pins and verdicts") {
    ChoiceWorld world;
    REQUIRE(world.lock().ok());
    const auto before = read_lock(world.lock_file()).value().value();
    world.answer("apt-devel.txt", "Inst g++-11 (11.3.0-99 Debian:12.1/stable [amd64])\n");
    world.choice().images = {kB};
    CHECK(world.lock(true, {"apt"}).value() ==
          std::vector<std::string>{kB + ": g++-11 11.3.0-12 -> 11.3.0-99"});
    auto after = read_lock(world.lock_file()).value().value();
    CHECK(after.images.at(kA) == before.images.at(kA));
    CHECK(after.images.at(kB).devel.front().version == "11.3.0-99");
    CHECK(after.verdicts == before.verdicts);
    // A base stays under the pins of the image that stays.
    const auto refused = world.lock(true);
    CHECK(refusal(refused, ExitCode::bad_input) ==
          fmt::format("--update moves bookworm, the base of {} and of {}, which is not chosen", kB, kA));
    CHECK(refused.failure().diagnostics.front().fix ==
          "choose both, or move apt and wheels only: --update=apt,wheels");
    // The verdict of a cell is recorded with its image.
    after.verdicts->at(kT4).verdict = "unknown";
    after.verdicts->erase(kH100);
    REQUIRE(write_lock(world.lock_file(), after).ok());
    REQUIRE(world.lock().ok());
    const auto recorded = read_lock(world.lock_file()).value().value().verdicts.value();
    CHECK(recorded.at(kT4).verdict == "unknown");
    CHECK(recorded.contains(kH100));
}

TEST_CASE("choice: build and --locked want the pins of what is chosen only") {
    ChoiceWorld world;
    world.choice().images = {kB};
    REQUIRE(world.lock().ok());
    world.settings.locked = true;
    CHECK(world.build().ok());
    CHECK(world.render().ok());
    world.choice().images = {kA};
    CHECK(refusal(world.build(), ExitCode::findings) ==
          fmt::format("--locked: {} does not cover {}: it has no packages and wheels of it",
                      world.lock_file().string(), kA));
    CHECK(world.builds_of(kA).empty());
}

TEST_CASE("choice: --failed takes images that failed or were left unfinished, whatever was chosen since") {
    ChoiceWorld world;
    const auto failed_now = [&] {
        world.choice() = {};
        world.choice().failed = true;
        return world.run();
    };
    const auto only = [&](const std::string& image) {
        world.choice() = {};
        world.choice().images = {image};
        return world.ran();
    };
    CHECK(refusal(failed_now(), ExitCode::bad_input) ==
          "--failed: there is no earlier run in " + world.settings.out.string());
    CHECK_FALSE(fs::exists(world.settings.out));
    world.choice() = {};
    const auto keep = [&](const RunReport& report) {
        // What the command writes beside the artifacts, as far as it is read again.
        auto cells = Json::array();
        for (const auto& cell : report.cells) {
            Json one{{"id", cell.id}, {"outcome", to_string(cell.outcome)}, {"proof", to_string(cell.proof)}};
            if (!cell.last.empty()) one["last"] = cell.last;
            cells.push_back(std::move(one));
        }
        std::ofstream(world.settings.out / "report.json")
            << to_text(Json{{"command", report.command}, {"cells", std::move(cells)}});
    };
    SUBCASE("a build that failed") {
        REQUIRE(world.lock().ok());
        world.fake.faults("build_fails:" + kA);
        keep(world.ran());
        // It is known as long as others are chosen.
        keep(only(kB));
        world.fake.faults("");
        const auto again = failed_now();
        REQUIRE(again.ok());
        CHECK(outcomes(*again) ==
              Outcomes{"passed_without_gpu", "skipped: not chosen", "skipped: not chosen"});
        CHECK(again->cells[1].last == "passed");
    }
    SUBCASE("a build that failed, by the journal alone: the command was killed") {
        REQUIRE(world.lock().ok());
        world.fake.faults("build_fails:" + kA);
        static_cast<void>(world.ran());
        world.fake.faults("");
        const auto again = failed_now();
        REQUIRE(again.ok());
        CHECK(outcomes(*again) ==
              Outcomes{"passed_without_gpu", "skipped: not chosen", "skipped: not chosen"});
    }
    SUBCASE("a test that failed, by the journal alone: the command was killed") {
        world.fake.faults("fail:" + kH100);
        static_cast<void>(world.ran());
        world.fake.faults("");
        const auto again = failed_now();
        REQUIRE(again.ok());
        CHECK(outcomes(*again) ==
              Outcomes{"skipped: not chosen", "passed_without_gpu", "skipped: not chosen"});
    }
    SUBCASE("what was never reached") {
        static_cast<void>(only(kA));
        const auto again = failed_now();
        REQUIRE(again.ok());
        CHECK(outcomes(*again) ==
              Outcomes{"skipped: not chosen", "passed_without_gpu", "skipped: not chosen"});
    }
    SUBCASE("what was built only is done for build, and not for run") {
        REQUIRE(world.lock().ok());
        keep(*world.build());
        world.choice().failed = true;
        CHECK(only_message(world.build().failure()).find("nothing that it leaves failed") !=
              std::string::npos);
        CHECK(world.ran().images.size() == 2);
    }
    SUBCASE("where all passed there is nothing to do") {
        keep(world.ran());
        const auto nothing = failed_now();
        CHECK(refusal(nothing, ExitCode::bad_input) ==
              fmt::format("--failed: of {} nothing that it leaves failed or is unfinished in {}",
                          world.file(), world.settings.out.string()));
        CHECK(nothing.failure().diagnostics.front().notes ==
              std::vector<std::string>{fmt::format("it has 3 cells and 2 images: {}, {}", kA, kB)});
    }
    SUBCASE("a report that is none") {
        fs::create_directories(world.settings.out);
        std::ofstream(world.settings.out / "report.json") << "{}";
        CHECK(refusal(failed_now(), ExitCode::bad_input) ==
              (world.settings.out / "report.json").string() + " is not a report of cudamatrix");
        CHECK(only(kA).exit_code == 4);  // who asks for nothing of it is not kept
    }
}

TEST_CASE("choice: what the matrix does not have is refused before anything is started") {
    ChoiceWorld world;
    const auto refused = [&](const Choice& choice) {
        world.settings.choice = choice;
        for (const auto job : {render_images, build_images, test_images, run_all}) {
            const auto report = world.with_input(job);
            REQUIRE_FALSE(report.ok());
            CHECK(report.failure().code == ExitCode::bad_input);
        }
        CHECK_FALSE(world.lock().ok());
        CHECK_FALSE(fs::exists(world.settings.out));
        CHECK_FALSE(fs::exists(world.lock_file()));
        CHECK(world.fake.calls().empty());
        const auto report = world.run();
        return World::render_failure(report.failure());
    };
    const auto start = "cudamatrix: error: ";
    Choice choice;
    choice.images = {kA, "a-debian12-cu11.8.1"};
    CHECK(refused(choice) == fmt::format("{}--only a-debian12-cu11.8.1: {} has no such image\n"
                                         "  fix: did you mean {}?\n",
                                         start, world.file(), kA));
    choice.images = {"x"};
    CHECK(refused(choice) == fmt::format("{}--only x: {} has no such image\n  fix: its images: {}, {}\n",
                                         start, world.file(), kA, kB));
    choice = {};
    choice.cells = {CellPattern::parse(kT4).value(), CellPattern::parse(kT4 + "x").value()};
    CHECK(refused(choice) == fmt::format("{}--cell {}x: {} has no such cell\n  fix: did you mean {}?\n",
                                         start, kT4, world.file(), kT4));
    choice.cells = {CellPattern::parse("gpu=L4").value()};
    CHECK(refused(choice).starts_with(
        fmt::format("{}--cell gpu=L4: {} has no such cell\n  fix: its cells: {}, {}, ", start, world.file(),
                    kT4, kH100)));
    choice = {};
    choice.where = condition_from_text("gpu=L4").value();
    choice.where_text = "gpu=L4";
    CHECK(refused(choice) == fmt::format("{}--where gpu=L4: {} has no such cell\n"
                                         "  note: it has 3 cells and 2 images: {}, {}\n"
                                         "  fix: cudamatrix list {} shows the cells\n",
                                         start, world.file(), kA, kB, world.file()));
    // Each of them is there, but not both at once.
    choice.where = condition_from_text("gpu=T4").value();
    choice.where_text = "gpu=T4";
    choice.images = {kB};
    CHECK(refused(choice).starts_with(fmt::format("{}--only {} --where gpu=T4: ", start, kB)));
    choice = {};
    choice.most_images = 1;
    CHECK(refused(choice) ==
          fmt::format("{}--max-images 1: {} has 2 images to attempt: {}, {}\n"
                      "  fix: choose with --only IMAGE..., --cell CELL, --where FIELD=VALUE or --failed, or "
                      "allow more\n",
                      start, world.file(), kA, kB));
    choice.images = {kB};
    world.settings.choice = choice;
    CHECK(world.ran().exit_code == 4);
}
