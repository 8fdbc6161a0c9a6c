// What the commands share: options, loading, values in the place of those of the file, and the way failures
// are printed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.hpp"
#include "commands/streams.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"
#include "render/lock/lock_file.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::probe {
struct Machine;
struct NamedHost;
}  // namespace cudamatrix::probe
namespace cudamatrix::solve {
struct Renderer;
}  // namespace cudamatrix::solve

namespace cudamatrix {

/// Options of every command that reads a matrix file.
struct MatrixOptions {
    std::string matrix;
    std::string facts;  ///< --facts DIR
    std::string on;     ///< --on DATE; empty: today

    std::vector<std::string> overrides;  ///< --override FIELD=VALUE, each as it was written
    std::vector<std::string> hosts;      ///< --host: on this machine, or on those of files
    std::string look;                    ///< --look: what no fact knows is measured first; empty: it is not
    bool says_spellings = true;          ///< usual spellings of the file, on stderr
    std::string lock;  ///< whose configurations of images are facts; empty: the one beside the matrix file

    /// All of it but --host: every command that judges can be asked what if.
    void add(const Arguments& app);
};

/// A matrix with everything that judging gave. Cells point into the matrix, so the whole stays where it is.
struct Loaded {
    Matrix matrix;
    Facts facts;
    Judgement judgement;
    std::string today;                          ///< YYYY-MM-DD: the day that was judged as of
    std::optional<report::HostInfo> host = {};  ///< with --host: what this machine is
    std::optional<Lock> lock = {};              ///< of MatrixOptions::lock, where there is one
};

/// Reads facts, matrix and what its lock (if there is one) says of images, puts the values of --host and
/// --override in place, and judges every cell; `list_cells` false: the counts only, of a matrix of any size.
/// Warns on stderr of old facts.
[[nodiscard]] Result<std::unique_ptr<Loaded>> load(const MatrixOptions& options, const World& world,
                                                   bool list_cells = true);

/// Reads the matrix file as if it had another text; it holds as long as `loaded`.
[[nodiscard]] std::function<Result<Matrix>(std::string_view source)> rereader(const Loaded& loaded);

/// Puts ways out that work on the whole cell in the place of those that the rules offer: for commands that
/// print findings. Says on stderr where a search for them was given up. Fails as interrupted.
[[nodiscard]] Status use_fixes_that_work(Loaded& loaded, const World& world);
/// The same word on stderr, where the search was another's.
void say_fixes_given_up(const World& world);

/// Lets long judging and searching end on an interrupt, and says on stderr now and then how far it is.
[[nodiscard]] OnProgress watched(const World& world);

/// --look, and --look=deep.
void add_look(const Arguments& app, std::string& look);

/// The option of a field: --driver VALUE.
struct FieldHelp {
    Field field;
    std::string_view text;
};
void add_field(const Arguments& app, const FieldHelp& help, std::string& into);

/// --facts DIR.
void add_facts_folder(const Arguments& app, std::string& facts);

/// --limit N of a list of `what` ("Stacks"), 1 to 1000.
void add_limit(const Arguments& app, std::size_t& limit, std::string_view what);

/// --format with the names of a list of formats; the first is the default.
void add_format(const Arguments& app, std::string& format, const std::vector<std::string>& names);

/// `today`: what the age of the facts is measured against.
[[nodiscard]] report::ToolInfo tool_info(const Facts& facts, std::string_view today);

/// Prints on stderr that the facts are old, where they are.
void warn_of_age(const report::ToolInfo& tool, const World& world);

/// Makes images of what a search finds, as a matrix without a word about mirrors or images would get them.
[[nodiscard]] solve::Renderer renderer_of(const Facts& facts);

/// --on with its check, for commands without a matrix too.
void add_day(const Arguments& app, std::string& on);

/// --out DIR of a command whose report goes to stdout and, with it, into a file of DIR as well.
void add_report_folder(const Arguments& app, std::string& out);

/// DIR/NAME.ENDING, replaced as a whole; DIR is made where it is missing.
[[nodiscard]] Status write_report(const std::filesystem::path& folder, std::string_view name,
                                  std::string_view format, std::string_view text);

/// Prints a report that is the same everywhere; --out DIR gets it as NAME, too.
[[nodiscard]] Status publish(const std::string& text, std::string_view name, std::string_view format,
                             const std::string& out);

/// Prints what `write` makes of the report; --out DIR gets it as NAME, too, without what is for a terminal.
template <class Report, class Writer>
Status publish(Report& report, std::string_view name, const std::string& format, const std::string& out,
               const Writer& write) {
    CM_TRY_ASSIGN(const auto text, Result<std::string>(write(report)));
    print(text);
    if (out.empty()) return Done{};
    report.text = {.verbose = report.text.verbose};
    CM_TRY_ASSIGN(const auto plain, Result<std::string>(write(report)));
    return write_report(out, name, format, plain);
}

/// The current one; empty where it is gone.
[[nodiscard]] std::string current_folder();

[[nodiscard]] report::TextOptions text_options(const World& world);

/// What the writers of `check` and `list` print.
[[nodiscard]] report::CheckReport check_report(const Loaded& loaded, const World& world);

/// No row can have been looked up after today, nor after the day that --on supposes, where that is later.
[[nodiscard]] Result<Facts> load_facts(const std::string& overlay, const World& world,
                                       const std::string& on = {});

/// Prints the diagnostics to stderr, with excerpts of the files that they point into; gives the exit code.
ExitCode report_failure(const Failure& failure, const World& world);

/// Prints all_warnings to stderr.
void report_warnings(const Loaded& loaded, const World& world);

/// This machine, as `--host` and `doctor` look at it.
[[nodiscard]] probe::Machine machine_of(const World& world);

/// --host, --host=FILE, --host FILE.json...: the command line makes each file a --host of its own.
void add_hosts(const Arguments& app, std::vector<std::string>& hosts, const std::string& help);

/// The machines that --host names. Input failures: a file that is no report of doctor.
[[nodiscard]] Result<std::vector<probe::NamedHost>> named_hosts(const std::vector<std::string>& hosts,
                                                                const World& world);

/// --override FIELD=VALUE.
void add_override(const Arguments& app, std::vector<std::string>& overrides);

/// Puts what --host finds and what --override says into `loaded`, and says on stderr what --override
/// replaced. Input failures: an unknown field, a value that is none of its field, a field that is overridden
/// twice. Environment failure: --host on a machine without driver and GPU.
[[nodiscard]] Status change_values(const MatrixOptions& options, const World& world, Loaded& loaded);

/// The matrix with one `--override FIELD=VALUE` in place, in words of a matrix file.
[[nodiscard]] Result<Matrix> overridden(const Matrix& matrix, std::string_view option);

/// The usual spellings, each said on stderr where it was met: note: "cu128" is read as cuda 12.8.
[[nodiscard]] Spelling said_spellings(const Facts& facts, const World& world);

}  // namespace cudamatrix
