// Judges what Dockerfiles, compose files, requirements, lock files and conda files install, as cells of a
// matrix whose values have their places in those files.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/sources/sources.hpp"
#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::audit {

/// A mistake of files that no cell shows. The id is stable.
struct Mistake {
    std::string_view id;
    Severity severity;
    std::string_view about;   ///< one line for the help
    std::string_view source;  ///< who says that this is what happens
};
/// THE list of mistakes.
[[nodiscard]] std::span<const Mistake> mistakes();

struct Finding {
    std::string_view id;  ///< of its mistake
    Severity severity = Severity::warning;
    Location where;
    std::string message;
    std::string fix;
};

/// An image, or an environment without one, and what it holds.
struct Stack {
    std::string name;  ///< "Dockerfile", "Dockerfile: runtime", "compose.yaml: db"
    std::string file;
    Matrix matrix;                     ///< one cell; `set` is empty where nothing of it is known
    std::vector<std::string> notes{};  ///< "torch>=2.0 is 2.15.0 today"
    /// torch and the packages: where each is written, and by which install.
    struct Place {
        Location where;
        std::size_t install = 0;
    };
    std::map<std::string, Place> places{};
    bool is_source = false;  ///< files are copied from it: it has to be there, and nothing of it runs

    /// Something in it is told to compile CUDA code: then `build` is among the stages of the matrix.
    [[nodiscard]] bool compiles() const;
};

struct Options {
    std::vector<std::pair<Field, Value>> machine;       ///< --driver, --gpu and the like
    std::map<std::string, std::string> arguments = {};  ///< --build-arg
    std::string target = {};    ///< --target: the stage of Dockerfiles that is built; empty: the last one
    std::string today = {};     ///< YYYY-MM-DD
    bool all_packages = false;  ///< packages and images that no fact describes are part of the cell, too
};

struct Input {
    std::string path;  ///< as it is shown
    std::string text;
};

struct Report {
    std::vector<sources::Source> files;
    std::vector<Stack> stacks;
    std::vector<Finding> findings;          ///< in the order of the files
    std::vector<sources::Skipped> skipped;  ///< what was not judged, and why
};

/// Reads other files that these name (-r requirements.txt, the Dockerfile of a compose file); nothing: there
/// is none.
using ReadFile = std::function<std::optional<std::string>(const std::filesystem::path&)>;

/// Nothing fails here: what cannot be read is among `skipped`, and so is a file of an unknown
/// kind.
[[nodiscard]] Report read_stacks(const std::vector<Input>& inputs, const Facts& facts, const Options& options,
                                 const ReadFile& read);

/// The image alone, as `audit IMAGE` takes it.
[[nodiscard]] Stack stack_of_image(const std::string& reference, const Facts& facts, const Options& options);

/// Paths below a folder whose names tell a kind, sorted; hidden folders, environments and build outputs left
/// out.
[[nodiscard]] Result<std::vector<std::filesystem::path>> files_below(const std::filesystem::path& folder);

/// A matrix of one cell, and the facts that it is judged by.
struct Question {
    const Matrix* matrix;
    const Facts* facts;
};
struct Answers {
    std::vector<Judgement> judgements;  ///< in the order of the questions
    bool complete = true;               ///< false: a search for fixes was given up
};
/// Judges them on all processors, those with the same values once, and tries the fixes of what is found as
/// solve::verify_fixes says. `watch` makes what each part tells how far it is. Fails as interrupted.
[[nodiscard]] Result<Answers> judge_stacks(std::span<const Question> questions, const std::string& today,
                                           const std::function<OnProgress()>& watch);

struct Judged {
    const Stack& stack;
    const Judgement& judgement;  ///< without cells where nothing of the stack is known
};

/// One line of a file that something is said of: a mistake, or what rules say of what it installs.
struct Line {
    Severity severity = Severity::error;
    Location where;
    std::string_view id;         ///< of the mistake or the rule
    std::optional<Stage> stage;  ///< nothing: of a mistake
    std::string message;
    std::string fix;
    std::string stack;        ///< the first one; empty: of a mistake
    std::string_view source;  ///< of a mistake; findings have facts
    const FindingGroup* group = nullptr;
};
/// In the order of files and lines; what several stacks share stands once. What would strike where the files
/// do nothing (torch.compile, and compiling where nothing is compiled) is a note, and so is that pip compiles
/// a package; two installs that contradict each other are a warning: pip says so and goes on.
[[nodiscard]] std::vector<Line> lines_of(const Report& report, const std::vector<Judged>& judged);

/// The line of a matrix file that leaves out the stages at which nothing happens; empty where something is
/// compiled.
[[nodiscard]] std::string stages_line(bool compiles);

/// The stacks of which something is known as a matrix file: one cell each.
[[nodiscard]] std::string matrix_text(const std::vector<const Stack*>& stacks, std::string_view name);

}  // namespace cudamatrix::audit
