// Many texts, each read as a matrix file, in one process; what holds of all of them is in
// tests/matrix_properties.hpp. Fails if it does not hold of one, and prints that one. Build it in the tree of
// preset asan-ubsan, too: a crash is one there. Usage: matrix_texts mutants BYTE_EDITS LINE_EDITS FILE...
// edits of each file, and how many of them were accepted
//        matrix_texts prefixes FOLDER                          every in.yaml of a copy of yaml-test-suite
//        (branch data), and every
//                                                              proper prefix of it: none of them may be
//                                                              accepted as a matrix
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/number.hpp"
#include "matrix_mutants.hpp"
#include "matrix_properties.hpp"

namespace {

using namespace cudamatrix;

constexpr std::uint64_t kFileBytes = 1u << 20;

class Texts {
  public:
    void take(std::string_view text) {
        const auto found = properties_.look_at(text);
        ++(found.accepted ? accepted_ : refused_);
        if (found.broken.empty()) return;
        ++broken_;
        fmt::print("{}\nof\n{}\n", found.broken, text);
    }

    [[nodiscard]] std::size_t accepted() const { return accepted_; }
    [[nodiscard]] std::size_t broken() const { return broken_; }

    void print(std::string_view what) const {
        fmt::print("{:<40} {:>8} texts {:>8} accepted {:>8} refused {:>4} broken\n", what,
                   accepted_ + refused_, accepted_, refused_, broken_);
        std::fflush(stdout);
    }

  private:
    test::MatrixProperties properties_{1000};
    std::size_t accepted_ = 0, refused_ = 0, broken_ = 0;
};

bool mutants(std::size_t bytes, std::size_t lines, const std::vector<std::string>& files) {
    bool good = true;
    for (const auto& file : files) {
        Texts texts;
        test::Mutants mutants(*file::read(file, kFileBytes), 1);
        for (std::size_t i = 0; i < bytes; ++i)
            texts.take(mutants.byte_edit());
        for (std::size_t i = 0; i < lines; ++i)
            texts.take(mutants.line_edit());
        texts.print(file);
        good = good && texts.broken() == 0 && texts.accepted() != 0;
    }
    return good;
}

bool prefixes(const std::filesystem::path& folder) {
    Texts texts;
    std::size_t inputs = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().filename() != "in.yaml") continue;
        ++inputs;
        const auto text = *file::read(entry.path(), kFileBytes);
        for (std::size_t size = 0; size <= text.size(); ++size)
            texts.take(std::string_view(text).substr(0, size));
    }
    texts.print(fmt::format("{} inputs and their prefixes", inputs));
    return inputs != 0 && texts.broken() == 0 && texts.accepted() == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 2 && arguments[0] == "prefixes") return prefixes(arguments[1]) ? 0 : 1;
    if (arguments.size() > 3 && arguments[0] == "mutants") {
        const auto bytes = text::whole_number<std::size_t>(arguments[1]);
        const auto lines = text::whole_number<std::size_t>(arguments[2]);
        if (bytes && lines) return mutants(*bytes, *lines, {arguments.begin() + 3, arguments.end()}) ? 0 : 1;
    }
    std::fputs("usage: matrix_texts mutants BYTE_EDITS LINE_EDITS FILE... | prefixes FOLDER\n", stderr);
    return 2;
}
