#include "base/diagnostic.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "base/result.hpp"
#include "base/text.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kSource = "version: 1\naxes:\n  driver: [\"470.161.03\", \"550\"]\n";

Diagnostic driver_error() {
    return Diagnostic::error("too old", {"matrix.yaml", 3, 12, 12});
}

// Where the caret line stands below the excerpt, and how long its mark is.
struct Marks {
    std::string shown, under;
};
Marks marks(const Location& where, std::string_view source) {
    const auto lines = text::split(render(Diagnostic::error("x", where), source), '\n');
    REQUIRE(lines.size() == 4);
    return {lines[1], lines[2]};
}

Result<int> half(int number) {
    if (number % 2 != 0) return input_failure("odd");
    return number / 2;
}

Status is_even(int number) {
    CM_TRY(half(number));
    return Done{};
}

Result<std::string> quarter(int number) {
    CM_TRY_ASSIGN(const auto once, half(number));
    int twice = 0;
    CM_TRY_ASSIGN(twice, half(once));
    return std::to_string(twice);
}

Result<int> of_owner(Result<std::unique_ptr<int>> owner) {
    CM_TRY_ASSIGN(const auto number, std::move(owner));
    return *number;
}

}  // namespace

TEST_CASE("diagnostic: as a compiler prints it") {
    CHECK(
        render(driver_error().with_note("first note").with_note("second").with_fix("driver 550"), kSource) ==
        "matrix.yaml:3:12: error: too old\n"
        "  3 |   driver: [\"470.161.03\", \"550\"]\n"
        "    |            ^~~~~~~~~~~~\n"
        "  note: first note\n"
        "  note: second\n"
        "  fix: driver 550\n");
}

TEST_CASE("diagnostic: without a source, a line, a file") {
    CHECK(render(driver_error(), "") == "matrix.yaml:3:12: error: too old\n");
    CHECK(render(Diagnostic::warning("empty", {"matrix.yaml", 0, 0, 1}), kSource) ==
          "matrix.yaml: warning: empty\n");
    CHECK(render(Diagnostic::error("no engine"), kSource) == "cudamatrix: error: no engine\n");
}

TEST_CASE("diagnostic: places that the source does not have show no excerpt") {
    for (const auto& where :
         {Location{"m", 9, 1, 1}, Location{"m", 3, 0, 1}, Location{"m", 3, 99, 1}, Location{"m", 4, 1, 1}}) {
        const auto text = render(Diagnostic::error("x", where), kSource);
        CHECK(text::split(text, '\n').size() == 2);
    }
}

TEST_CASE("diagnostic: the caret may stand behind the end of a line") {
    const auto [shown, under] = marks({"m", 1, 11, 1}, kSource);
    CHECK(shown == "  1 | version: 1");
    CHECK(under == "    |           ^");
}

TEST_CASE("diagnostic: marks end with the line, and count characters") {
    CHECK(marks({"m", 1, 10, 500}, kSource).under == "    |          ^");
    CHECK(marks({"m", 1, 1, 0}, kSource).under == "    | ^");
    // Two characters of two bytes each: two columns, not four.
    CHECK(marks({"m", 1, 6, 4}, "gpu: \xc3\xa4\xc3\xb6 x\n").under == "    |      ^~");
    CHECK(marks({"m", 1, 11, 1}, "gpu: \xc3\xa4\xc3\xb6 x\n").under == "    |         ^");
}

TEST_CASE("diagnostic: a long line is shown around its place") {
    const std::string source(1'000'000, 'x');
    const auto [shown, under] = marks({"m", 1, 500'000, 1'000'000}, source);
    CHECK(shown == "  1 | " + std::string(150, 'x'));
    CHECK(under == "    | " + std::string(49, ' ') + "^" + std::string(100, '~'));
    const auto early = marks({"m", 1, 100, 100}, source);
    CHECK(early.under == "    | " + std::string(99, ' ') + "^" + std::string(50, '~'));
    const auto late = marks({"m", 1, 1'000'001, 1}, source);
    CHECK(late.shown == "  1 | " + std::string(49, 'x'));
    CHECK(late.under == "    | " + std::string(49, ' ') + "^");
}

TEST_CASE("diagnostic: a carriage return at the end of a line is not shown") {
    CHECK(marks({"m", 2, 1, 1}, "a: 1\r\nb: 2\r\n").shown == "  2 | b: 2");
}

TEST_CASE("diagnostic: hostile input cannot drive the terminal, and the caret still fits") {
    auto hostile = Diagnostic::error("\x1b[2J\n\xff", {"\x1b]0;t\x07.yaml", 1, 4, 2})
                       .with_note("\xe2\x80\xae")
                       .with_fix("\x9b");
    CHECK(render(hostile, "\t\x1b\xff\xc2\x9b$") ==
          "?]0;t?.yaml:1:4: error: ?[2J??\n"
          "  1 |  ???$\n"
          "    |    ^\n"
          "  note: ?\n"
          "  fix: ?\n");
}

TEST_CASE("diagnostic: colour marks the severity only") {
    CHECK(render(Diagnostic::warning("w"), "", true) == "cudamatrix: \x1b[1;33mwarning:\x1b[0m w\n");
    Diagnostic unknown;
    unknown.severity = Severity::unknown;
    unknown.message = "u";
    CHECK(render(unknown, "", true) == "cudamatrix: \x1b[1;35munknown:\x1b[0m u\n");
    CHECK(render(unknown, "", false) == "cudamatrix: unknown: u\n");
    for (const auto severity : {Severity::error, Severity::warning, Severity::unknown, Severity::note})
        CHECK_FALSE(to_string(severity).empty());
}

TEST_CASE("result: a value or the reason why there is none") {
    const Result<int> good(7);
    CHECK(good.ok());
    CHECK(*good == 7);
    const Result<int> bad(input_failure("no matrix", "write one"));
    CHECK_FALSE(bad.ok());
    CHECK(bad.failure().code == ExitCode::bad_input);
    CHECK(render(bad.failure().diagnostics.at(0), "") == "cudamatrix: error: no matrix\n  fix: write one\n");
    CHECK(environment_failure("no docker").code == ExitCode::environment);
    CHECK(Status(Done{}).ok());
}

TEST_CASE("result: a failure leaves the function, whatever that returns") {
    CHECK(is_even(2).ok());
    REQUIRE_FALSE(is_even(3).ok());
    CHECK(is_even(3).failure().code == ExitCode::bad_input);
    CHECK(is_even(3).failure().diagnostics.front().message == "odd");
}

TEST_CASE("result: a value is assigned or moved into a new variable") {
    CHECK(*quarter(12) == "3");
    CHECK_FALSE(quarter(6).ok());
    CHECK_FALSE(quarter(3).ok());
    CHECK(*of_owner(std::make_unique<int>(7)) == 7);
    CHECK_FALSE(of_owner(environment_failure("none")).ok());
}

TEST_CASE("exit codes: 130, 2, 3, 1, 4, 0 in that order") {
    const ExitCode order[] = {ExitCode::interrupted, ExitCode::bad_input,   ExitCode::environment,
                              ExitCode::findings,    ExitCode::without_gpu, ExitCode::success};
    for (std::size_t a = 0; a < std::size(order); ++a) {
        for (std::size_t b = 0; b < std::size(order); ++b)
            CHECK(worse(order[a], order[b]) == order[std::min(a, b)]);
    }
}
