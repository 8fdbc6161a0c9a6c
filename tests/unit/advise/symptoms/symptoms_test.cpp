// Rows of matrix/facts/symptoms.yaml against messages that programs print, and lines that mean nothing.
// Cases: tests/symptoms/.
#include "advise/symptoms/symptoms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "folders.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream in(std::string(tests_dir()) + "/symptoms/" + name);
    REQUIRE(in);
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line[0] != '#') out.push_back(text::replace_all(line, "\\n", "\n"));
    }
    return out;
}

std::vector<std::string> ids(const symptoms::Found& found) {
    std::vector<std::string> out;
    for (const auto& match : found.matches)
        out.emplace_back(match.row.id());
    return out;
}

const Facts& known() {
    static const auto embedded = Facts::embedded();
    return embedded;
}

symptoms::Found find(std::string_view text) {
    return symptoms::find(known(), text);
}

std::string joined(std::string_view text) {
    return text::join(ids(find(text)), " ");
}

}  // namespace

TEST_CASE("a message finds its row and no other, and every row has a message") {
    std::vector<std::string> missing;
    for (const auto& row : known().rows("symptoms"))
        missing.emplace_back(row.id());
    CHECK(missing.size() >= 100);
    for (const auto& line : lines_of("messages.tsv")) {
        CAPTURE(line);
        const auto tab = line.find('\t');
        REQUIRE(tab != line.npos);
        const auto id = line.substr(0, tab);
        std::erase(missing, id);
        CHECK(joined(line.substr(tab + 1)) == id);
    }
    CHECK(text::join(missing, " ").empty());
}

TEST_CASE("lines that are no message match nothing") {
    const auto lines = lines_of("others.txt");
    CHECK(lines.size() >= 2 * known().rows("symptoms").size());
    for (const auto& line : lines) {
        CAPTURE(line);
        CHECK(joined(line) == "");
    }
    // Together they are a log, in which nothing of one line may join that of another.
    CHECK(joined(text::join(lines, "\n")) == "");
}

TEST_CASE("rows are written as texts are compared") {
    for (const auto& row : known().rows("symptoms")) {
        CAPTURE(row.id());
        std::size_t length = 0;
        for (const auto fragment : row.list("matches")) {
            CHECK(fragment == text::lower(fragment));
            CHECK(fragment == text::trim(fragment));
            for (const auto* wrong : {"  ", "`", "\n", "\xE2\x80"})
                CHECK(fragment.find(wrong) == fragment.npos);
            length += fragment.size();
        }
        CHECK(length >= 15);
    }
}

TEST_CASE("what is around the words of a message does not count") {
    const std::string id = "symptom-build-toolkit-mismatch";
    for (
        const std::string text :
        {"The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8)",
         "THE DETECTED CUDA VERSION (12.4) MISMATCHES THE VERSION THAT WAS USED TO COMPILE PYTORCH",
         "  The detected\r\n\tCUDA version   (12.4)\n\n\nmismatches the version that was used\nto compile PyTorch",
         "\x1B[1;31mThe detected \x1B[0mCUDA version (12.4) mismatches the\x1B[K version that was used to "
         "compile PyTorch",
         "\x1B]8;;https://example.org\x1B\\The\x1B]0;title\a detected CUDA version (12.4) mismatches the version "
         "that was used to compile\xC2\xA0PyTorch"}) {
        CAPTURE(text);
        CHECK(joined(text) == id);
    }
    for (const std::string text :
         {"the detected version (12.4) mismatches the version that was used to compile PyTorch",
          "mismatches the version that was used to compile PyTorch: the detected CUDA version (12.4)",
          "The detected CUDA version (12.4) mis matches the version that was used to compile PyTorch"}) {
        CAPTURE(text);
        CHECK(joined(text) == "");
    }
}

TEST_CASE("quotes of every kind are quotes") {
    for (const std::string quoted : {"'AT_CHECK'", "`AT_CHECK'",
                                     "\xE2\x80\x98"
                                     "AT_CHECK\xE2\x80\x99",
                                     "\xC2\xB4"
                                     "AT_CHECK\xC2\xB4"})
        CHECK(joined(quoted + " was not declared in this scope") == "symptom-build-at-check-host");
    for (const std::string quoted : {"AT_CHECK", "\"AT_CHECK\"", "(AT_CHECK)", "'AT_CHECKS'"})
        CHECK(joined(quoted + " was not declared in this scope") == "");
}

TEST_CASE("fragments that are far apart are two messages") {
    const std::string first = "The detected CUDA version (12.4)",
                      second = "mismatches the version that was used to compile PyTorch";
    CHECK(joined(first + std::string(150, '.') + second) == "symptom-build-toolkit-mismatch");
    CHECK(joined(first + std::string(201, '.') + second) == "");
    // The first time it stands alone, the second time it does not.
    CHECK(joined(first + std::string(201, '.') + first + second) == "symptom-build-toolkit-mismatch");
}

TEST_CASE("the more specific row comes first, then the earlier line") {
    const auto found = find(
        "No devices were found\n\nCUDA out of memory\nRmInitAdapter failed\n"
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
        "CUDA out of memory");
    CHECK(
        text::join(ids(found), " ") ==
        "symptom-cuda-no-kernel-image symptom-driver-no-devices symptom-driver-rminitadapter symptom-cuda-out-of-memory");
    REQUIRE(found.matches.size() == 4);
    CHECK(found.matches[0].line == 5);
    CHECK(found.matches[0].excerpt ==
          "RuntimeError: CUDA error: no kernel image is available for execution on the device");
    CHECK(found.matches[3].line == 3);
}

TEST_CASE("the excerpt is fit for a terminal, and short") {
    const auto excerpt = [](const std::string& text) {
        const auto found = find(text);
        return found.matches.empty() ? "none" : found.matches[0].excerpt;
    };
    CHECK(excerpt("a\x1B[31mb\x07"
                  "c CUDA out of memory \xFF\x1B") == "abc CUDA out of memory ?");
    CHECK(excerpt("before\n\xE2\x80\xAE"
                  "CUDA out of memory\nafter") == "?CUDA out of memory");
    CHECK(excerpt(std::string(300, 'x') + " CUDA out of memory") == "...CUDA out of memory");
    CHECK(excerpt("CUDA out of memory " + std::string(300, 'x')) ==
          "CUDA out of memory " + std::string(181, 'x') + "...");
    // Not cut within a character.
    CHECK(excerpt("CUDA out of memory " + std::string(180, 'x') + "\xC3\xA4\xC3\xA4") ==
          "CUDA out of memory " + std::string(180, 'x') + "...");
}

TEST_CASE("bytes of any kind are a text") {
    std::string utf16 = "\xFF\xFE";
    for (const char c : std::string("CUDA out of memory\r\n")) {
        utf16 += c;
        utf16 += '\0';
    }
    CHECK(joined(utf16) == "symptom-cuda-out-of-memory");

    std::string junk;
    unsigned state = 1;
    for (int i = 0; i < 100'000; ++i) {
        state = state * 1'103'515'245U + 12'345U;
        junk += static_cast<char>(state >> 16U);
    }
    CHECK(joined(junk) == "");
    for (const std::string text :
         {"", " ", "\n", "\x1B", "\x1B[", "\x1B]", "\x1B\x1B", "\xE2\x80", "\xE2", "\xC2", "`"}) {
        CAPTURE(text);
        CHECK(joined(text) == "");
        CHECK(joined("CUDA out of memory" + text) == "symptom-cuda-out-of-memory");
    }
    CHECK(joined(std::string(1, '\0')) == "");
}

TEST_CASE("a log of 10 MB") {
    std::string log;
    while (log.size() < 10'000'000)
        log += "step 100 | loss 2.31 | the detected CUDA version (12.4) is fine | invalid device\n";
    CHECK(joined(log) == "");
    const auto lines = static_cast<std::size_t>(std::ranges::count(log, '\n'));
    const auto found = find(log + "RuntimeError: CUDA out of memory");
    REQUIRE(found.matches.size() == 1);
    CHECK(found.matches[0].line == lines + 1);
    CHECK(joined(std::string(10'000'000, '\n')) == "");
    CHECK(joined(std::string(10'000'000, 'c')) == "");
}

TEST_CASE("what is nearly a message has near rows, what is none has none") {
    const auto near = [](std::string_view text) {
        std::string out;
        for (const auto& row : find(text).nearest)
            out += std::string(out.empty() ? "" : " ") + std::string(row.id());
        return out;
    };
    CHECK(near("no kernel image available").find("symptom-cuda-no-kernel-image") == 0);
    CHECK(near("Driver and library version mismatch") == "symptom-driver-library-mismatch");
    for (const std::string text : {"", "error", "cuda", "the", "it is what it is",
                                   "Epoch 1/10: loss 0.6931, 212 img/s", "CUDA out of memory"}) {
        CAPTURE(text);
        CHECK(near(text) == "");
    }
    // A log has words of every row.
    CHECK(near("no kernel image available" + std::string(5000, '.')) == "");
}

TEST_CASE("rows of an overlay are found, in whatever case they are written") {
    const test::TempFolder folder;
    test::put_file(folder.path() / "symptoms.yaml", R"(table: symptoms
as_of: "2026-11-28"
rows:
  - {id: symptom-ours, program: ours, matches: ["Our Program", "is BROKEN"], says: it broke, cause: a fault,
     fix: repair it, source: "https://example.org/broken", confidence: read}
)");
    const auto facts = Facts::with_overlay(folder.path(), "2026-11-28");
    REQUIRE(facts.ok());
    CHECK(text::join(ids(symptoms::find(*facts, "our program (3) is broken")), " ") == "symptom-ours");
    CHECK(ids(symptoms::find(*facts, "our program is fine")).empty());
    CHECK(ids(symptoms::find(*facts, "it is broken, our program")).empty());
}
