// What tests of collect share: a locked matrix of two images, machines that are runs of one image each with a
// fake engine, and logs that are what its suite prints.
#pragma once

#include "run/collect/collect.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/run_reports.hpp"
#include "run/job/plan_id.hpp"
#include "unit/run/job/session_world.hpp"

namespace cudamatrix::collect_site {

using namespace session_world;

inline constexpr const char* kFix =
    "\n  fix: run it again, or collect with the matrix and lock that it was run with\n";

// Where results are gathered, of a matrix that is locked.
class Site {
  public:
    explicit Site(const std::string& matrix = kTwoImages) : world(matrix) {
        const auto locked = world.lock();
        if (!locked.ok()) FAIL(World::render_failure(locked.failure()));
        world.settings.out = world.folder() / "plan";
        fs::create_directories(results());
        ask();
    }

    [[nodiscard]] fs::path results() const { return world.folder() / "results"; }
    [[nodiscard]] std::string file(const std::string& name) const { return (results() / name).string(); }
    /// A message without the folder of this test.
    [[nodiscard]] std::string short_of(const std::string& text) const {
        return text::replace_all(text::replace_all(text, results().string() + "/", ""),
                                 world.folder().string() + "/", "");
    }

    void write(const std::string& name, const std::string& content) const {
        fs::create_directories((results() / name).parent_path());
        std::ofstream(results() / name, std::ios::binary) << content;
    }

    /// `run --only IMAGE` on a machine of that name: its report is results/NAME/report.json.
    void machine(const std::string& name, const std::string& image) {
        const auto settings = world.settings;
        world.settings.out = results() / name;
        world.settings.choice.images = {image};
        const auto report = world.ran();
        write(name + "/report.json", report::run_json(report));
        world.settings = settings;
    }
    [[nodiscard]] Json report_of(const std::string& name) const {
        return parse_json(content_of(results() / name / "report.json"), "report").value();
    }
    /// That machine's report with a change.
    void change(const std::string& name, const std::function<void(Json&)>& with) const {
        auto json = report_of(name);
        with(json);
        write(name + "/report.json", to_text(json) + "\n");
    }

    /// What the suite prints for a cell, as JSON.
    [[nodiscard]] std::vector<Json> lines(const std::string& cell, bool gpu = false) const {
        Command command;
        command.argv = {world.fake.client(), "suite"};
        for (const auto& argument : tests.at({cell, gpu}).arguments)
            command.argv.push_back(argument);
        if (gpu) command.argv.insert(command.argv.end(), {"--gpus", "all"});
        command.environment = world.fake.environment;
        const auto outcome = cudamatrix::run(command, nullptr);
        REQUIRE(outcome.ok());
        std::vector<Json> out;
        for (const auto& line : text::split(outcome->out, '\n')) {
            if (!line.empty()) out.push_back(parse_json(line, "suite").value());
        }
        REQUIRE(out.size() > 10);
        return out;
    }
    static std::string text_of(const std::vector<Json>& lines) {
        std::string out;
        for (const auto& line : lines)
            out += to_text(line, false) + "\n";
        return out;
    }
    [[nodiscard]] std::string log(const std::string& cell, bool gpu = false) const {
        return text_of(lines(cell, gpu));
    }
    /// A log of a cell, one thing of it spoilt.
    void spoilt(const std::string& name, const std::string& cell,
                const std::function<void(std::vector<Json>&)>& spoil, bool gpu = false) const {
        auto all = lines(cell, gpu);
        spoil(all);
        write(name, text_of(all));
    }

    Result<collect::Collected> collect(const std::vector<std::string>& paths) {
        return world.with_input(
            [&](const RunInput& input, const RunSettings& settings) -> Result<collect::Collected> {
                CM_TRY_ASSIGN(const auto plan, job::make_plan(input, settings, "test"));
                return collect::collect(input, settings, plan, paths);
            });
    }
    collect::Collected all() { return of({results().string()}); }
    collect::Collected of(const std::vector<std::string>& paths) {
        auto collected = collect(paths);
        if (!collected.ok()) FAIL(World::render_failure(collected.failure()));
        return std::move(*collected);
    }
    std::string refused(const std::vector<std::string>& paths) {
        const auto collected = collect(paths);
        REQUIRE_FALSE(collected.ok());
        CHECK(collected.failure().code == ExitCode::bad_input);
        return short_of(World::render_failure(collected.failure()));
    }
    std::string refused() { return refused({results().string()}); }
    /// The result of the cell whose log is the only file.
    CellResult judged(const std::string& cell) {
        const auto collected = all();
        for (const auto& each : collected.report.cells) {
            if (each.id == cell) return each;
        }
        FAIL("no such cell");
        return {};
    }

    World world;
    std::vector<std::string> cells;   ///< those of image a first
    std::vector<std::string> images;  ///< a and b
    std::map<std::pair<std::string, bool>, job::RemoteTest> tests;

  private:
    void ask() {
        world.with_input([&](const RunInput& input, const RunSettings& settings) {
            const auto plan = job::make_plan(input, settings, "test");
            REQUIRE(plan.ok());
            for (const auto& image : plan->images) {
                images.push_back(image.id);
                for (const auto& cell : plan->report.cells) {
                    if (cell.image != image.id) continue;
                    cells.push_back(cell.id);
                    for (const bool gpu : {true, false})
                        tests[{cell.id, gpu}] = job::remote_test(input, *plan, settings, cell, gpu);
                }
            }
            return 0;
        });
        REQUIRE(images.size() == 2);
        REQUIRE(cells.size() == 4);
    }
};

inline const CellResult& cell_of(const collect::Collected& collected, const std::string& id) {
    const auto found = std::ranges::find(collected.report.cells, id, &CellResult::id);
    REQUIRE(found != collected.report.cells.end());
    return *found;
}

inline void say_gpu(std::vector<Json>& lines, const char* cc, const char* driver) {
    for (auto& line : lines) {
        if (line.contains("id")) line["gpu"] = Json{{"name", "NVIDIA X"}, {"cc", cc}, {"driver", driver}};
    }
}

}  // namespace cudamatrix::collect_site
