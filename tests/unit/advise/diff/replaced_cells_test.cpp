#include "advise/diff/replaced_cells.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "knowledge/judge/judge.hpp"
#include "read_matrix.hpp"

using namespace cudamatrix;

namespace {

// A matrix with its cells.
class Cells {
  public:
    explicit Cells(const std::string& axes) : matrix_(test::read("version: 1\naxes: {" + axes + "}\n")) {
        auto judged = judge(matrix_, Facts::embedded(), {.today = "2026-11-27"});
        REQUIRE(judged);
        judgement_ = *std::move(judged);
        for (const auto& cell : judgement_.cells)
            by_id.emplace(cell.id, &cell);
    }

    diff::CellsById by_id;

  private:
    Matrix matrix_;
    Judgement judgement_;
};

// "driver 535 -> 570" for each pair, those of both sides left out.
std::vector<std::string> replaced(const std::string& before, const std::string& now) {
    Cells gone(before), fresh(now);
    for (const auto& [id, cell] : Cells(before).by_id) {
        if (fresh.by_id.erase(id) != 0) gone.by_id.erase(id);
    }
    std::vector<std::string> out;
    for (const auto& pair : diff::replaced_cells(gone.by_id, fresh.by_id)) {
        std::vector<std::string> parts;
        for (const auto& change : pair.changes)
            parts.push_back(fmt::format("{} {} -> {}", change.field, change.before, change.now));
        out.push_back(text::join(parts, " and "));
    }
    return out;
}

using Pairs = std::vector<std::string>;

}  // namespace

TEST_CASE("replaced cells: a value that moved on pairs all its cells") {
    const std::string change = "driver 535.183.01 -> 570.86.15";
    CHECK(replaced("driver: [535.183.01], gpu: [T4, L4]", "driver: [570.86.15], gpu: [T4, L4]") ==
          Pairs{change, change});
    CHECK(replaced("driver: [535.183.01], gpu: [T4, L4]", "driver: [570.86.15], gpu: [L4]") == Pairs{change});
    CHECK(replaced("driver: [535.183.01, 550.54.15]", "driver: [570.86.15, 550.54.15]") == Pairs{change});
    CHECK(replaced("gpu: [T4], packages: [{timm: 0.6.13}]", "gpu: [T4], packages: [{timm: 0.9.2}]") ==
          Pairs{"packages timm=0.6.13 -> timm=0.9.2"});
}

TEST_CASE("replaced cells: two values may move together, three are another cell") {
    CHECK(replaced("gpu: [T4], cuda: [12.4.1], torch: [2.6.0+cu124]",
                   "gpu: [T4], cuda: [12.6.3], torch: [2.7.1+cu126]") ==
          Pairs{"cuda 12.4.1 -> 12.6.3 and torch 2.6.0+cu124 -> 2.7.1+cu126"});
    CHECK(replaced("gpu: [T4], cuda: [12.4.1], torch: [2.6.0+cu124]",
                   "gpu: [L4], cuda: [12.6.3], torch: [2.7.1+cu126]")
              .empty());
}

TEST_CASE("replaced cells: a field that came or went is a value that moved") {
    CHECK(replaced("gpu: [T4]", "gpu: [T4], python: ['3.12']") == Pairs{"python  -> 3.12"});
    CHECK(replaced("gpu: [T4], python: ['3.12']", "gpu: [T4]") == Pairs{"python 3.12 -> "});
}

TEST_CASE("replaced cells: where a pair is a guess there is none") {
    CHECK(replaced("driver: [535.183.01]", "driver: [550.54.15, 570.86.15]").empty());
    CHECK(replaced("driver: [535.183.01, 550.54.15]", "driver: [570.86.15]").empty());
    CHECK(replaced("driver: [535.183.01, 550.54.15], gpu: [T4]", "driver: [570.86.15, 580.65.06], gpu: [T4]")
              .empty());
    CHECK(replaced("gpu: [T4]", "gpu: [T4, L4]").empty());
    CHECK(replaced("gpu: [T4, L4]", "gpu: [T4]").empty());
    CHECK(replaced("gpu: [T4]", "gpu: [T4]").empty());
}
