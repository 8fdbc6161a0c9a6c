#include "support.hpp"

using namespace cudamatrix;

namespace {

// Whether exclude: {field: condition} covers the cell {field: value}. The other driver keeps the file from
// being empty.
bool covers(std::string_view field, std::string_view condition, std::string_view value) {
    const auto text =
        fmt::format("version: 1\nset: {{{}: {}}}\nexclude: [{{{}: {}}}]\n", field, value, field, condition);
    const auto matrix = matrix_test::accepted(text);
    const bool excluded = matrix_test::ids(matrix).empty();
    CHECK(excluded == matrix.warnings.empty());
    return excluded;
}

// Values, separated by '|', that a condition covers, and others.
struct Row {
    std::string_view field, condition, covered, others;
};
void check(const std::vector<Row>& rows) {
    for (const auto& row : rows) {
        for (const bool expected : {true, false}) {
            const auto values = expected ? row.covered : row.others;
            if (values.empty()) continue;
            for (const auto& value : text::split(values, '|'))
                CHECK_MESSAGE(covers(row.field, row.condition, value) == expected, row.field, " ",
                              row.condition, " ", value);
        }
    }
}

// The ids of the cells that the condition holds of.
std::string chosen(std::string_view condition) {
    const auto matrix = matrix_test::accepted(
        "version: 1\naxes: {driver: [470, 525, 550], cuda: [11.8.0, 12.4.1]}\nset: {gpu: T4}\n");
    const auto parsed = condition_from_text(condition);
    REQUIRE(parsed.ok());
    std::string out;
    for_each_cell(matrix, [&](const Cell& cell) {
        if (matches(*parsed, cell)) out += (out.empty() ? "" : " ") + cell_id(matrix, cell);
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

TEST_CASE("an equality on a version covers what it does not say") {
    check({{"cuda", "12", "12.4.1", ""},
           {"cuda", "\"12.4\"", "12.4.1|12.4", "12.40.1"},
           {"cuda", "\"=12.4\"", "12.4.1", ""},
           {"cuda", "\"12.4.1\"", "", "12.4"},
           {"cuda", "\"!=12.4\"", "12.5", "12.4.1"},
           {"driver", "550", "R550", ""},
           {"driver", "R550", "550.54.15", ""},
           {"torch", "2.6", "2.6.0+cu124", ""},
           {"torch", "2.6.0", "2.6.0+cu124", ""},
           {"torch", "2.6.0+cu124", "", "2.6.0|2.6.0+cu126"},
           {"torch", "none", "none", "2.6.0"}});
}

TEST_CASE("a suffix that makes another thing is compared") {
    check({{"python", "3.13", "3.13.1", "3.13t"},
           {"python", "3.13t", "3.13t", ""},
           {"compute", "9.0", "", "9.0a"},
           {"compute", "9.0a", "9.0a", ""}});
}

TEST_CASE("ranges compare as versions") {
    check({{"driver", "\"<500\"", "470.161.03", "535.183.01"},
           {"driver", "\"<525.60.13\"", "525.60.2", ""},
           {"cuda", "\">=12\"", "12.0", ""},
           {"cuda", "\">=12,<13\"", "12.9.1", "13.0"},
           {"cuda", "\">= 12, < 13\"", "12.10", ""},
           {"cuda", "\"<=12.4\"", "12.4.1", ""},
           {"cuda", "\">12.4\"", "12.10", "12.4.1"},
           {"python", "\"<3.10\"", "3.9", ""},
           {"vram_gb", "\"<24\"", "16", ""},
           {"mig", "\">=1\"", "true", ""},
           {"torch", "\"<3\"", "", "none"}});
}

TEST_CASE("a nightly build is older than its release and newer than those before it") {
    constexpr std::string_view nightly = "2.9.0.dev20250812|2.9.0.dev20250812+cu128";
    check({{"torch", "\"<2.9.0\"", nightly, "2.9.0|2.9.0+cu128"},
           {"torch", "\"<2.9\"", nightly, "2.9.0"},
           {"torch", "\"<=2.8.0\"", "2.8.0.dev20250612", nightly},
           {"torch", "\">2.8.0\"", nightly, "2.8.0|2.8.0.dev20250612"},
           {"torch", "\">2.8\"", nightly, "2.8.1"},
           {"torch", "\">=2.9.0\"", "2.9.0|2.10.0.dev20251012", nightly},
           {"torch", "\">=2.8,<2.9\"", nightly, "2.9.0"},
           {"torch", "2.9.0", "2.9.0+cu128", nightly},
           {"torch", "\"2.9\"", "2.9.1", nightly},
           {"torch", "2", nightly, "2.0.0.dev20230101"},
           {"torch", "\">=2.9.0.dev20250812\"", "2.9.0|2.9.0.dev20250813|2.9.0.dev20250812+cpu",
            "2.9.0.dev20250811|2.8.1"},
           {"torch", "2.9.0.dev20250812", nightly, "2.9.0.dev20250813|2.9.0"},
           {"torch", "2.9.0.dev20250812+cu128", "2.9.0.dev20250812+cu128",
            "2.9.0.dev20250812+cu126|2.9.0.dev20250812"},
           {"torch", "\"!=2.9.0\"", nightly, "2.9.0"},
           {"torch", "\"2.9.0.dev*\"", nightly, "2.9.0"}});
}

TEST_CASE("lists, patterns and text") {
    check({{"gpu", "t4", "T4", ""},
           {"gpu", "[H100, t4]", "T4", ""},
           {"gpu", "T4", "", "T4G"},
           {"gpu", "\"rtx *\"", "RTX 4090", "GeForce RTX 4090"},
           {"driver", "\"470.*\"", "470.161.03", "4700.1"},
           {"cuda", "[\"<11\", \">=13\"]", "13.0", "12.0"},
           {"uses", "THC", "[AT_CHECK, THC]", "[AT_CHECK]"},
           {"arch", "x86_64", "x86_64", ""}});
}

TEST_CASE("an exclude that covers nothing is reported, with the field that no cell has") {
    const std::string text =
        "version: 1\naxes: {cuda: [\"12.4.1\"], driver: [\"570\"]}\nexclude:\n  - {cuda: \"<12\"}\n  - "
        "{cuda: \"12\", gpu: T4}\n  - {cuda: \"12\", driver: \"<500\"}\n";
    CHECK(matrix_test::rendered(matrix_test::accepted(text).warnings, text) ==
          "matrix.yaml:4:5: warning: this exclude covers no cell of the product\n"
          "  4 |   - {cuda: \"<12\"}\n"
          "    |     ^\n"
          "  fix: correct it, or delete it\n"
          "matrix.yaml:5:5: warning: this exclude covers no cell of the product: no cell has the field gpu\n"
          "  5 |   - {cuda: \"12\", gpu: T4}\n"
          "    |     ^\n"
          "  fix: correct it, or delete it\n"
          "matrix.yaml:6:5: warning: this exclude covers no cell of the product\n"
          "  6 |   - {cuda: \"12\", driver: \"<500\"}\n"
          "    |     ^\n"
          "  fix: correct it, or delete it\n");
}

TEST_CASE("an exclude never touches an include") {
    const auto matrix = matrix_test::accepted(
        "version: 1\naxes: {gpu: [T4, H100]}\nexclude: [{gpu: \"*\"}]\ninclude: [{gpu: H100}]\n");
    CHECK(matrix_test::ids(matrix) == std::vector<std::string>{"h100"});
}

TEST_CASE("excludes see zipped fields together") {
    const auto matrix = matrix_test::accepted(
        "version: 1\naxes: {cuda: [\"11.8.0\", \"12.4.1\"], os: [debian12, debian13]}\nzip: [[cuda, os]]\n"
        "exclude: [{cuda: 11, os: debian13}, {cuda: 12, os: debian13}]\n");
    CHECK(matrix_test::ids(matrix) == std::vector<std::string>{"cu11.8.0-debian12"});
    REQUIRE(matrix.warnings.size() == 1);
    CHECK(matrix.warnings.front().where.line == 4);
}

TEST_CASE("condition_from_text: values, ranges and alternatives as in the matrix file") {
    CHECK(chosen("cuda=12.4.1,driver=470") == "drv470-t4-cu12.4.1");
    CHECK(chosen("driver=470,driver=550,cuda=11.8") == "drv470-t4-cu11.8.0 drv550-t4-cu11.8.0");
    CHECK(chosen("driver=<500,cuda=>=12") == "drv470-t4-cu12.4.1");
    CHECK(chosen("driver=>=500,<550,cuda=11.8.0") == "drv525-t4-cu11.8.0");
    CHECK(chosen("gpu=t4, cuda = 12.*, driver=!=525") == "drv470-t4-cu12.4.1 drv550-t4-cu12.4.1");
    CHECK(chosen("os=debian12").empty());
    // What goes on belongs to the field before it, though that has a clause already.
    CHECK(chosen("driver=470,cuda=12,driver=>=500,<550") == "drv470-t4-cu12.4.1 drv525-t4-cu12.4.1");
}

TEST_CASE("two conditions exclude each other where nothing meets both") {
    const auto test_of = [](const std::string& text) {
        const auto parsed = condition_from_text(text);
        REQUIRE_MESSAGE(parsed.ok(), text);
        return ClauseTest(parsed->clauses.front());
    };
    const struct {
        const char *a, *b;
        bool apart;
    } cases[] = {
        {"cuda=<12.1", "cuda=<12.4", false},
        {"cuda=<12.4", "cuda=<12.4", false},
        {"cuda=>12.1", "cuda=>12.4", false},
        {"cuda=>=12.1", "cuda=<=12.1", false},
        {"cuda=>=12.1,<13", "cuda=12.4.1", false},
        {"compiler=<gcc-11", "compiler=<gcc-12", false},
        {"cuda=<12.1", "cuda=>=12.1", true},
        {"cuda=<12.1", "cuda=>12.1", true},
        {"cuda=>=12.1,<12.4", "cuda=<12.1", true},
        {"cuda=>=12.1,<12.4", "cuda=>12.4", true},
        {"cuda=12.1.0", "cuda=12.4.1", true},
        {"cuda=>=12.4,<12.1", "cuda=<99", true},
        {"compiler=<gcc-11", "compiler=<clang-11", true},
        {"compiler=<gcc-11", "compiler=>=gcc-11", true},
    };
    for (const auto& each : cases) {
        CAPTURE(each.a);
        CAPTURE(each.b);
        CHECK(test_of(each.a).excludes(test_of(each.b)) == each.apart);
        CHECK(test_of(each.b).excludes(test_of(each.a)) == each.apart);
    }
}

TEST_CASE("ranges of compilers are within one name, and a bare major lies on both sides of a limit") {
    const auto parsed = condition_from_text("compiler=>=gcc-11.3,<gcc-12");
    REQUIRE(parsed.ok());
    const ClauseTest test(parsed->clauses.front());
    const auto holds = [&](std::string_view text) { return test.holds({Operand(Field::compiler, text)}); };
    for (const auto* text : {"gcc-11.3", "gcc-11.4.0", "gcc-11.10"})
        CHECK_MESSAGE(holds(text), text);
    for (const auto* text : {"gcc-11.2", "gcc-12", "gcc-12.1", "clang-11.4", "gcc"})
        CHECK_MESSAGE(!holds(text), text);
    CHECK(test.splits(Operand(Field::compiler, "gcc-11")));
    for (const auto* text : {"gcc-11.3", "gcc-11.2", "gcc-12", "clang-11"})
        CHECK_MESSAGE(!test.splits(Operand(Field::compiler, text)), text);
    CHECK(
        refusal("compiler=<gcc") ==
        "invalid compiler \"gcc\": expected gcc-N, clang-N or msvc-N such as gcc-11, clang-14.0.6, msvc-14.40 or msvc-2022");
    // As ever, a value is that value only.
    const auto plain = condition_from_text("compiler=gcc-11");
    REQUIRE(plain.ok());
    CHECK_FALSE(ClauseTest(plain->clauses.front()).holds({Operand(Field::compiler, "gcc-11.3")}));
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
