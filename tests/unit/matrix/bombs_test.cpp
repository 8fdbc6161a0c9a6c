// Files that are small to write and large to read: each is refused within a second.
#include <ctime>

#include "sanitized.hpp"
#include "support.hpp"

using namespace cudamatrix;

namespace {

std::string repeated(std::string_view piece, std::size_t times) {
    return text::replace_all(std::string(times, '.'), ".", piece);
}

std::string numbered(std::string_view before, std::string_view after, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
        out += fmt::format("{}{}{}", before, i, after);
    return out;
}

std::string laughs(std::string_view open, std::string_view close, bool quoted) {
    std::string out = fmt::format("a0: &a0 {}lol{}\n", open, close);
    for (int level = 1; level <= 9; ++level) {
        out += fmt::format("a{}: &a{} [", level, level);
        for (int i = 0; i < 9; ++i)
            out += fmt::format("{}*a{}{}", i == 0 ? "" : ", ", level - 1, quoted ? " " : "");
        out += "]\n";
    }
    return out;
}

long milliseconds_since(std::clock_t start) {
    return static_cast<long>((std::clock() - start) * 1000 / CLOCKS_PER_SEC);
}

struct Bomb {
    std::string_view name;
    std::string text;
};

std::vector<Bomb> bombs() {
    const std::string head = "version: 1\n";
    const std::size_t many = 100'000;
    std::string indented;
    for (std::size_t i = 0; i < 1000; ++i)
        indented += std::string(i, ' ') + "a:\n";
    return {
        {"open brackets", repeated("[", many)},
        {"open braces", repeated("{", many)},
        {"open braces with keys", repeated("{a: ", many)},
        {"balanced brackets", repeated("[", 50'000) + repeated("]", 50'000)},
        {"brackets below a key", head + "axes: " + repeated("[", many)},
        {"block sequences", repeated("- ", many)},
        {"block sequences below a key", head + "axes:\n  " + repeated("- ", 20'000) + "a"},
        {"indented maps", indented},
        {"nested flow maps", repeated("{a: ", 5000) + "a"},
        {"complex keys", repeated("? ", many)},
        {"complex keys in flow", std::string("[") + repeated("? [", 20'000)},
        {"colons", repeated(": ", many)},
        {"colons in flow", std::string("{") + repeated(": ", many)},
        {"commas", std::string("[") + repeated(",", many)},
        {"commas in a map", std::string("{") + repeated(",", many)},
        {"billion laughs", laughs("[", "]", false)},
        {"billion laughs, quoted", laughs("\"", "\"", true)},
        {"self reference", head + "axes: &x [*x]\n"},
        {"self reference in a map", "self: &a {self: *a}\n"},
        {"merge of itself", "a: &a {<<: *a}\n"},
        {"many anchors", numbered("- &a", " x\n", 20'000)},
        {"many aliases", "a: &a x\nb: [" + repeated("*a, ", 30'000) + "]\n"},
        {"many keys", numbered("k", ": 1\n", 50'000)},
        {"many keys in flow", std::string("{") + numbered("k", ": 1, ", 50'000) + "}"},
        {"many equal keys", repeated("k: 1\n", many)},
        {"many values", head + "axes: {driver: [" + numbered("", ", ", 60'000) + "]}"},
        {"many unknown fields", head + "axes:\n" + numbered("  f", ": 1\n", 9'000)},
        {"many bad values", head + "axes: {driver: [" + numbered("x", ", ", 15'000) + "]}"},
        {"many documents", repeated("---\n", many)},
        {"many document ends", "a\n" + repeated("...\n", many) + "b"},
        {"a long plain value", head + "name: " + std::string(900'000, 'a')},
        {"a long quoted value", head + "name: \"" + std::string(900'000, 'a') + "\""},
        {"a long key", std::string(900'000, 'k') + ": 1"},
        {"an unclosed quote", head + "name: \"" + repeated("a ", 400'000)},
        {"unclosed quotes in lists", head + "axes: {a: [" + repeated("'", 100'001)},
        {"escapes", head + "name: \"" + repeated("\\x41", 100'000) + "\""},
        {"a block scalar", head + "name: |\n" + repeated("  a\n", 200'000)},
        {"a folded scalar", head + "name: >\n" + repeated("  a\n\n", 150'000)},
        {"spaces", head + "name:" + std::string(900'000, ' ') + "@"},
        {"comments", repeated("#\n", 500'000)},
        {"blank lines", std::string(1'000'000, '\n')},
        {"percent signs", repeated("%\n", 400'000)},
        {"tags", repeated("!a ", many)},
        {"a long tag", fmt::format("!{} b", std::string(500'000, 'a'))},
        {"a long anchor", fmt::format("&{} b", std::string(500'000, 'a'))},
        {"question marks", std::string("{") + repeated("?,", many)},
        {"wide lists of lists", head + "zip: [" + repeated("[a,a],", 15'000) + "]"},
        {"more than a mebibyte", std::string((1u << 20) + 1, ' ')},
    };
}

}  // namespace

TEST_CASE("every bomb is refused within a second") {
    const auto all = bombs();
    CHECK(all.size() >= 32);
    for (const auto& bomb : all) {
        CAPTURE(bomb.name);
        // Processor time: what else the machine does is not the reader's.
        const std::clock_t start = std::clock();
        const auto result = read_matrix_text(bomb.text, "matrix.yaml");
        const auto took = milliseconds_since(start);
        CHECK_FALSE(result.ok());
        if (!result.ok()) CHECK(result.failure().code == ExitCode::bad_input);
#ifdef CUDAMATRIX_SANITIZED
        CHECK(took <= 10'000);  // a sanitized build is no measure of speed, only of endless work
#else
        CHECK(took <= 1000);
#endif
    }
}

TEST_CASE("the largest file that is accepted takes no longer than a few seconds to check") {
    // Excludes times rows is the one product in the reader.
    std::string text = "version: 1\naxes: {driver: [" + numbered("1.", ", ", 2000) + "]}\nexclude: [";
    text += numbered("{driver: \"<", "\"}, ", 1000) + "]\n";
    const std::clock_t start = std::clock();
    const auto matrix = matrix_test::accepted(text);
    const auto took = milliseconds_since(start);
    CHECK(product_size(matrix) == 2000);
    CHECK(took <= 20'000);
}
