#include "look/measure/news.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "look/measure/rows.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

IndexFile listed(const std::string& name, bool yanked = false) {
    IndexFile file;
    file.name = name;
    file.sha256 = std::string(64, 'b');
    file.yanked = yanked;
    if (yanked) file.yanked_reason = "broken";
    return file;
}

// The tag of "3.13t": cp313-cp313t.
std::string tag(std::string_view python) {
    const bool threaded = python.ends_with('t');
    const auto digits = text::replace_all(python.substr(0, python.size() - (threaded ? 1 : 0)), ".", "");
    return fmt::format("cp{}-cp{}{}", digits, digits, threaded ? "t" : "");
}

// The wheels of each row of torch_wheels that stands on the default index: the world as the facts know it.
std::vector<IndexFile> known_torch(const Facts& facts, const std::string& without = "") {
    std::vector<IndexFile> files;
    for (const auto& row : facts.rows("torch_wheels")) {
        if (row.text("default_index") != "true" || row.id() == without) continue;
        for (const auto python : row.list("pythons"))
            files.push_back(listed(fmt::format("torch-{}-{}-manylinux_2_99_{}.whl", row.text("torch"),
                                               tag(python), row.text("arch"))));
    }
    return files;
}

std::string shown(const News& news) {
    std::string out;
    for (const auto& change : news.changes)
        out += fmt::format("{} {}: {} {}\n", change.project, change.version, to_string(change.kind),
                           change.detail);
    for (const auto& row : news.rows)
        out += fmt::format("row {}\n", row.id);
    for (const auto& task : news.tasks)
        out += fmt::format("task {} {} {}\n", task.package, task.release.version, task.release.arch);
    return out;
}

}  // namespace

TEST_CASE("an index as the facts know it is no news") {
    const auto facts = Facts::embedded();
    CHECK(shown(torch_news(known_torch(facts), "", facts)) == "");
}

TEST_CASE("new, yanked and vanished releases of torch") {
    const auto facts = Facts::embedded();
    auto files = known_torch(facts, "torch-2.6.0+cu124-x86_64");
    for (auto& file : files) {
        if (file.name.starts_with("torch-2.5.1-") && file.name.ends_with("x86_64.whl"))
            file = listed(file.name, true);
    }
    for (const char* name :
         {"torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl",
          "torch-99.0.0-cp313-cp313-manylinux_2_28_x86_64.whl",
          "torch-99.0.0-cp312-cp312-manylinux_2_28_aarch64.whl",
          "torch-99.1.0rc1-cp312-cp312-manylinux_2_28_x86_64.whl", "torch-99.0.0-cp312-cp312-win_amd64.whl",
          "torch-0.1.2-cp312-cp312-manylinux_2_28_x86_64.whl"})
        files.push_back(listed(name));
    files.push_back(listed("torch-99.2.0-cp312-cp312-manylinux_2_28_x86_64.whl", true));
    CHECK(shown(torch_news(files, "", facts)) ==
          "torch 2.6.0: vanished for x86_64\ntorch 2.5.1: yanked broken\ntorch 99.0.0: new \n"
          "task torch 2.5.1 x86_64\n"  // it leaves the row that it shares
          "task torch 99.0.0 aarch64\ntask torch 99.0.0 x86_64\n");
}

TEST_CASE("a known release with wheels for other pythons, and a wheel that was swapped") {
    const auto facts = Facts::embedded();
    auto files = known_torch(facts);
    files.push_back(listed("torch-2.6.0-cp399-cp399-manylinux_2_99_x86_64.whl"));
    files.push_back(listed("torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl"));
    const auto row = facts.row("torch-2.5.1+cu124-x86_64");
    REQUIRE(row.has_value());
    REQUIRE(row->text("source").starts_with("wheel:torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl sha256:"));
    CHECK(shown(torch_news(files, "", facts)) ==
          fmt::format(
              "torch 2.5.1: swapped torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl has the sha256 {}, the "
              "facts were read from {}\n"
              "torch 2.6.0: changed wheels for 3.9 3.10 3.11 3.12 3.13 3.99 on x86_64, the facts say 3.9 "
              "3.10 3.11 3.12 3.13\n"
              "task torch 2.6.0 x86_64\n",
              std::string(64, 'b'), row->text("source").substr(59)));
}

TEST_CASE("an index for one variant of torch says nothing about what it lacks") {
    const auto facts = Facts::embedded();
    CHECK(shown(torch_news({listed("torch-99.0.0+cu118-cp312-cp312-manylinux_2_28_x86_64.whl"),
                            listed("torch-2.6.0+cu118-cp312-cp312-linux_x86_64.whl")},
                           "cu118", facts)) ==
          "torch (cu118) 99.0.0: new \ntask torch 99.0.0+cu118 x86_64\n");
    CHECK(shown(torch_news({}, "cu118", facts)) == "");
}

TEST_CASE("packages") {
    const auto facts = Facts::embedded();
    const auto news =
        package_news({listed("timm-99.0-py3-none-any.whl"), listed("timm-98.0.tar.gz")}, "timm", facts);
    REQUIRE_FALSE(news.changes.empty());
    CHECK(shown({{news.changes.back()}, news.tasks, {}}) == "timm 99.0: new \ntask timm 99.0 \n");
    CHECK(std::all_of(news.changes.begin(), news.changes.end() - 1, [](const Change& change) {
        return change.kind == Change::Kind::vanished && change.project == "timm";
    }));
    const auto known = known_packages(facts);
    CHECK(std::find(known.begin(), known.end(), "timm") != known.end());
    CHECK(std::find(known.begin(), known.end(), "torch") == known.end());
}

TEST_CASE("toolkits: whatever release the facts do not have, of an old minor as well") {
    const auto facts = Facts::embedded();
    std::vector<IndexFile> files;
    for (const auto& row : facts.rows("cuda_releases")) {
        for (const auto source : row.list("source")) {
            if (!source.starts_with("wheel:cuda_toolkit-")) continue;
            const auto space = source.find(" sha256:");
            auto file = listed(std::string(source.substr(6, space - 6)));
            file.sha256 = source.substr(space + 8);
            files.push_back(std::move(file));
        }
    }
    REQUIRE(files.size() > 20);
    CHECK(shown(toolkit_news(files, facts)) == "");
    const auto swapped = files.front();
    files.front().sha256 = std::string(64, 'b');
    files.push_back(listed("cuda_toolkit-12.4.9-py2.py3-none-any.whl"));
    files.push_back(listed("cuda_toolkit-99.0.0-py2.py3-none-any.whl", true));
    files.push_back(listed("cuda_toolkit-99.1.0rc1-py2.py3-none-any.whl"));
    const auto news = shown(toolkit_news(files, facts));
    CHECK(news.ends_with("cuda-toolkit 12.4.9: new \ntask cuda-toolkit 12.4.9 \n"));
    CHECK(news.find(fmt::format("swapped {} has the sha256 {}, the facts were read from {}", swapped.name,
                                std::string(64, 'b'), swapped.sha256)) != std::string::npos);
    CHECK(std::count(news.begin(), news.end(), '\n') == 3);
    const auto none = toolkit_news({}, facts);
    CHECK(none.tasks.empty());
    CHECK(std::all_of(none.changes.begin(), none.changes.end(),
                      [](const Change& change) { return change.kind == Change::Kind::vanished; }));
}

TEST_CASE("what was taken back becomes a row that says so, and is no news from then on") {
    const auto facts = Facts::embedded();
    const auto yanked_now = [&](const Facts& known) {
        auto news = package_news({listed("timm-1.0.31-py3-none-linux_x86_64.whl", true)}, "timm", known);
        std::erase_if(news.changes,
                      [](const Change& change) { return change.kind == Change::Kind::vanished; });
        return news;
    };
    const auto news = yanked_now(facts);
    CHECK(shown(news) == "timm 1.0.31: yanked broken\nrow package-timm-1.0.31\n");
    const auto known = facts.row("package-timm-1.0.31");
    REQUIRE(known.has_value());
    const auto line = [&](const std::optional<std::string>& because) {
        const auto text = yaml_line(yanked_row(*known, because));
        return text.substr(text.find(", yanked: "), text.find(", source: ") - text.find(", yanked: "));
    };
    CHECK(line("broken \"build\"") == ", yanked: true, yanked_because: \"broken \\\"build\\\"\"");
    CHECK(line("") == ", yanked: true");
    CHECK(line(std::nullopt) == ", yanked: false");
    CHECK(yaml_line(news.rows.front()) == yaml_line(yanked_row(*known, "broken")));

    test::TempFolder folder;
    REQUIRE(write_overlay(folder.path(), {compare(news.rows.front(), facts).row}, "2026-11-21").ok());
    const auto overlaid = Facts::with_overlay(folder.path(), "2026-11-21").value();
    CHECK(shown(yanked_now(overlaid)).empty());

    // A release that shares its row with others is looked into, for a row of its own.
    auto shared = package_news({listed("timm-1.0.9-py3-none-linux_x86_64.whl", true)}, "timm", facts);
    std::erase_if(shared.changes, [](const Change& change) { return change.kind == Change::Kind::vanished; });
    CHECK(shown(shared) == "timm 1.0.9: yanked broken\ntask timm 1.0.9 \n");

    // Its author may think better of it.
    auto back = package_news({listed("timm-1.0.31-py3-none-linux_x86_64.whl")}, "timm", overlaid);
    std::erase_if(back.changes, [](const Change& change) { return change.kind == Change::Kind::vanished; });
    CHECK(shown(back) == "timm 1.0.31: changed no longer yanked\nrow package-timm-1.0.31\n");
    REQUIRE(write_overlay(folder.path(), {compare(back.rows.front(), overlaid).row}, "2026-11-21").ok());
    CHECK(shown(yanked_now(Facts::with_overlay(folder.path(), "2026-11-21").value())) == shown(news));
}

TEST_CASE("a release is taken back where all its wheels are, for the reason that the index gives") {
    const auto because = [](const std::vector<std::optional<std::string>>& reasons) {
        Release release{"1.0", "", {}, false, {}};
        for (const auto& reason : reasons) {
            release.wheels.push_back(listed("timm-1.0-py3-none-any.whl", reason.has_value()));
            release.wheels.back().yanked_reason = reason.value_or("");
        }
        return yanked_because(release).value_or("(none)");
    };
    CHECK(because({}) == "(none)");
    CHECK(because({std::nullopt}) == "(none)");
    CHECK(because({"broken", std::nullopt}) == "(none)");
    CHECK(because({std::nullopt, "broken"}) == "(none)");
    CHECK(because({""}) == "");
    CHECK(because({" \t "}) == "");
    CHECK(because({"broken"}) == "broken");
    CHECK(because({"", " segfaults \n", "other words"}) == "segfaults");
    CHECK(because({"one\ntwo\tthree\r"}) == "one two three");
    CHECK(because({"red \x1b[31mwheel"}) == "red ?[31mwheel");
}

TEST_CASE("what an index of one variant took back says nothing of the default index") {
    const auto facts = Facts::embedded();
    CHECK(shown(torch_news({listed("torch-2.6.0+cu118-cp312-cp312-linux_x86_64.whl", true)}, "cu118",
                           facts)) == "torch (cu118) 2.6.0: yanked broken\n");
    auto files = known_torch(facts);
    for (auto& file : files) {
        if (file.name.starts_with("torch-2.9.1-") && file.name.ends_with("aarch64.whl"))
            file = listed(file.name, true);
    }
    CHECK(shown(torch_news(files, "", facts)) == "torch 2.9.1: yanked broken\n");
}
