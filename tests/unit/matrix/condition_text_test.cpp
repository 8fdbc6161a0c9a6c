#include "matrix/condition.hpp"

#include <doctest/doctest.h>

#include "matrix/matrix_file.hpp"

using namespace cudamatrix;

namespace {

// The ids of the cells that the condition holds of.
std::string chosen(std::string_view condition) {
    const auto matrix = read_matrix_text(
        "version: 1\naxes: {driver: [470, 525, 550], cuda: [11.8.0, 12.4.1]}\nset: {gpu: T4}\n", "m.yaml");
    REQUIRE(matrix.ok());
    const auto parsed = condition_from_text(condition);
    REQUIRE(parsed.ok());
    std::string out;
    for_each_cell(*matrix, [&](const Cell& cell) {
        if (matches(*parsed, cell)) out += (out.empty() ? "" : " ") + cell_id(*matrix, cell);
        return true;
    });
    return out;
}

std::string refusal(std::string_view condition) {
    const auto parsed = condition_from_text(condition);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.failure().code == ExitCode::bad_input);
    const auto& diagnostic = parsed.failure().diagnostics.front();
    return diagnostic.message + (diagnostic.fix.empty() ? "" : " | " + diagnostic.fix);
}

}  // namespace

TEST_CASE("condition_from_text: values, ranges and alternatives as in the matrix file") {
    CHECK(chosen("cuda=12.4.1,driver=470") == "drv470-t4-cu12.4.1");
    CHECK(chosen("driver=470,driver=550,cuda=11.8") == "drv470-t4-cu11.8.0 drv550-t4-cu11.8.0");
    CHECK(chosen("driver=<500,cuda=>=12") == "drv470-t4-cu12.4.1");
    CHECK(chosen("driver=>=500,<550,cuda=11.8.0") == "drv525-t4-cu11.8.0");
    CHECK(chosen("gpu=t4, cuda = 12.*, driver=!=525") == "drv470-t4-cu12.4.1 drv550-t4-cu12.4.1");
    CHECK(chosen("os=debian12").empty());
}

TEST_CASE("condition_from_text: what is no condition says what would be one") {
    constexpr const char* kFix = " | as in driver=470.161.03,cuda=12.4.1";
    CHECK(refusal("") == std::string("\"\": expected FIELD=VALUE") + kFix);
    CHECK(refusal("driver") == std::string("\"driver\": expected FIELD=VALUE") + kFix);
    CHECK(refusal("driver=470,550") == std::string("\"550\": expected FIELD=VALUE") + kFix);
    CHECK(refusal("<500") == std::string("\"<500\": expected FIELD=VALUE") + kFix);
    CHECK(refusal("cudo=12") == "unknown field \"cudo\" | did you mean cuda?");
    CHECK(refusal("=12") == "unknown field \"\" | write FIELD=VALUE, as in driver=470.161.03,cuda=12.4.1");
    CHECK(refusal("packages=torch") ==
          "packages cannot be used in a condition: expected a field with a single value");
    CHECK(refusal("gpu=<T4").find("gpu: ranges compare versions") == 0);
    CHECK(refusal("driver=").find("invalid driver") == 0);
    CHECK(refusal("driver=\x1b[2J").find('\x1b') == std::string::npos);
}
