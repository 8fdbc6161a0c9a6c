#include "report/grid.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "report/matrix_reports.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

// Cells of every combination; `verdict` says what becomes of it.
struct Field3 {
    Field field;
    std::vector<std::string> values;
};

template <class Judge>
void fill(fixtures::Judged& data, const std::vector<Field3>& axes, const Judge& verdict) {
    data.judgement = {};
    std::vector<std::size_t> at(axes.size(), 0);
    while (true) {
        std::vector<std::pair<Field, Value>> fields;
        std::vector<std::string> values;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            Value value;
            value.text = axes[i].values[at[i]];
            values.push_back(value.text);
            fields.emplace_back(axes[i].field, value);
        }
        data.add("cell", fields, verdict(values));
        std::size_t i = axes.size();
        while (i > 0 && ++at[i - 1] == axes[i - 1].values.size())
            at[--i] = 0;
        if (i == 0) return;
    }
}

std::string text_of(const fixtures::Judged& data, std::size_t width) {
    return grid_text(grid_of(data.judgement, width), false);
}

const std::vector<Field3> kAxes{{Field::driver, {"470", "535", "580"}},
                                {Field::gpu, {"T4", "A100 80GB"}},
                                {Field::torch, {"2.4.0", "2.9.0"}},
                                {Field::python, {"3.10", "3.13"}},
                                {Field::os, {"ubuntu22.04", "ubuntu24.04"}}};

Verdict by_all(const std::vector<std::string>& values) {
    if (values[0] == "470") return Verdict::rejected;
    if (values[2] == "2.4.0" && values[3] == "3.13") return Verdict::rejected;
    return values[1] == "T4" && values[2] == "2.9.0" ? Verdict::degraded : Verdict::accepted;
}

}  // namespace

TEST_CASE("grid: fields of the host are columns, fields that decide nothing are left out") {
    fixtures::Judged data;
    fill(data, kAxes, by_all);
    CHECK(text_of(data, 80) ==
          "  driver         470            535            580\n"
          "  gpu            T4  A100 80GB  T4  A100 80GB  T4  A100 80GB\n"
          "  torch  python\n"
          "  2.4.0  3.10    R   R          A   A          A   A\n"
          "  2.4.0  3.13    R   R          R   R          R   R\n"
          "  2.9.0  3.10    R   R          D   A          D   A\n"
          "  2.9.0  3.13    R   R          D   A          D   A\n"
          "  A accepted, D degraded, R rejected\n");
}

TEST_CASE("grid: where columns do not fit, a field of the host names rows") {
    fixtures::Judged data;
    fill(data, kAxes, by_all);
    CHECK(text_of(data, 50) ==
          "  gpu                    T4  A100 80GB\n"
          "  driver  torch  python\n"
          "  470     2.4.0  3.10    R   R\n"
          "  470     2.4.0  3.13    R   R\n"
          "  470     2.9.0  3.10    R   R\n"
          "  470     2.9.0  3.13    R   R\n"
          "  535     2.4.0  3.10    A   A\n"
          "  535     2.4.0  3.13    R   R\n"
          "  535     2.9.0  3.10    D   A\n"
          "  535     2.9.0  3.13    D   A\n"
          "  580     2.4.0  3.10    A   A\n"
          "  580     2.4.0  3.13    R   R\n"
          "  580     2.9.0  3.10    D   A\n"
          "  580     2.9.0  3.13    D   A\n"
          "  A accepted, D degraded, R rejected\n");
}

TEST_CASE("grid: what does not fit is left out, and letters stand together") {
    fixtures::Judged data;
    fill(data,
         {{Field::torch, std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}},
          {Field::python, {"a", "b", "c", "d", "e", "f"}},
          {Field::os, {"x", "y"}}},
         [](const auto& values) {
             if (values[0] == "1" && values[1] == "f") return Verdict::unknown;
             if (values[0] == "1") return Verdict::rejected;
             return values[1] == "b" && values[2] == "y" ? Verdict::degraded : Verdict::accepted;
         });
    CHECK(text_of(data, 20) ==
          "  os     x   y\n"
          "  torch\n"
          "  1      RU  RU\n"
          "  2      A   DA\n"
          "  3      A   DA\n"
          "  4      A   DA\n"
          "  5      A   DA\n"
          "  6      A   DA\n"
          "  7      A   DA\n"
          "  8      A   DA\n"
          "  9      A   DA\n"
          "  10     A   DA\n"
          "  A accepted, D degraded, U unknown, R rejected, several letters: other fields decide\n");
}

TEST_CASE("grid: cells that do not exist are points") {
    fixtures::Judged data;
    fill(data, {{Field::driver, {"470", "580"}}, {Field::torch, {"2.4.0", "2.9.0"}}},
         [](const auto&) { return Verdict::accepted; });
    Value driver, torch;
    driver.text = "590";
    torch.text = "2.9.0";
    data.add("more", {{Field::driver, driver}, {Field::torch, torch}}, Verdict::unknown);
    CHECK(text_of(data, 80) ==
          "  driver  470  580  590\n"
          "  torch\n"
          "  2.4.0   A    A    .\n"
          "  2.9.0   A    A    U\n"
          "  A accepted, U unknown, . no such cell\n");
}

TEST_CASE("grid: one field, or none that varies") {
    fixtures::Judged data;
    fill(data, {{Field::torch, {"2.4.0", "2.9.0"}}, {Field::os, {"debian12"}}},
         [](const auto& values) { return values[0] == "2.4.0" ? Verdict::accepted : Verdict::rejected; });
    CHECK(text_of(data, 80) ==
          "  torch\n"
          "  2.4.0  A\n"
          "  2.9.0  R\n"
          "  A accepted, R rejected\n");
    fill(data, {{Field::driver, {"470", "580"}}},
         [](const auto& values) { return values[0] == "470" ? Verdict::accepted : Verdict::rejected; });
    CHECK(text_of(data, 80) ==
          "  driver  470  580\n"
          "          A    R\n"
          "  A accepted, R rejected\n");
    fill(data, {{Field::os, {"debian12"}}}, [](const auto&) { return Verdict::degraded; });
    CHECK(text_of(data, 80) ==
          "  D\n"
          "  D degraded\n");
}

TEST_CASE("grid: 216 cells fit one screen") {
    fixtures::Judged data;
    fill(data,
         {{Field::driver, {"535.183.01", "550.54.15", "580.65.06"}},
          {Field::gpu, {"T4", "A100", "H100"}},
          {Field::torch, {"2.4.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.0"}},
          {Field::python, {"3.10", "3.11", "3.12", "3.13"}}},
         [](const auto& values) {
             const auto sum = values[0].size() + values[1].size() + values[2][2] + values[3].back();
             return static_cast<Verdict>(sum % 4);
         });
    const auto text = text_of(data, 80);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 44);
    CHECK(fixtures::widest_line(text) <= 80);
}
