// What was really seen for each cell and image of a run, the data that every report writer prints; and what
// it comes to: counts, and the one word for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudamatrix {

/// How far a cell was really seen to work.
enum class Proof : std::uint8_t { none, rendered, built, loaded, interpreted, ran };
[[nodiscard]] std::string_view to_string(Proof proof);

inline constexpr std::array kProofs{Proof::none,   Proof::rendered,    Proof::built,
                                    Proof::loaded, Proof::interpreted, Proof::ran};

enum class TestStatus : std::uint8_t { pass, fail, skip, error, timeout, crash };
[[nodiscard]] std::string_view to_string(TestStatus status);
inline constexpr std::array kTestStatuses{TestStatus::pass,  TestStatus::fail,    TestStatus::skip,
                                          TestStatus::error, TestStatus::timeout, TestStatus::crash};

/// Of `values` the one that to_string calls so.
template <class Values>
[[nodiscard]] auto value_named(std::string_view name, const Values& values)
    -> std::optional<std::decay_t<decltype(values[0])>> {
    for (const auto value : values) {
        if (to_string(value) == name) return value;
    }
    return std::nullopt;
}

/// How fast a GPU was, by a test of the suite: the median of `n` rounds. It makes no test red.
struct Metric {
    std::string name;
    double value = 0;
    std::string unit;
    std::uint64_t n = 0;
    double rsd = 0;         ///< relative standard deviation of the rounds
    std::string roof = {};  ///< what it is compared with: "cudaMemcpy"; empty: with nothing
    double roof_value = 0;  ///< in the same unit
    double ratio = 0;       ///< of the roof
    double goal = 0;        ///< of the ratio; 0: there is none
};

/// One line of the suite, checked and cleaned.
struct TestResult {
    std::string id;    ///< static.fatbin
    std::string part;  ///< what it ran on: gpu, interpreted, cpu, load, static; may be empty
    TestStatus status = TestStatus::error;
    std::string reason;  ///< closed set for skips
    std::string fault;   ///< F1 .. F25
    std::string summary;
    std::string hint;
    std::string code_path;            ///< static.fatbin, torch.arch: by which code the cell's GPU would run
    std::vector<std::string> fatbin;  ///< the code found: "sass 7.5", "ptx 9.0@8.4"
    std::string evidence;             ///< tail of the test's output
    double milliseconds = 0;
    std::vector<Metric> metrics = {};  ///< of the part "gpu" only
};

enum class CellOutcome : std::uint8_t { skipped, planned, passed, passed_without_gpu, failed, errored };
[[nodiscard]] std::string_view to_string(CellOutcome outcome);
inline constexpr std::array kCellOutcomes{CellOutcome::skipped, CellOutcome::planned,
                                          CellOutcome::passed,  CellOutcome::passed_without_gpu,
                                          CellOutcome::failed,  CellOutcome::errored};

/// A cell in its image. A cell that several entries of images match has one result for each, and all but the
/// first are `again`.
struct CellResult {
    std::string id;       ///< the cell's; with several images each is called CELL@ENTRY
    std::string cell;     ///< id of the cell
    bool again = false;   ///< a further image of a cell that stands before
    std::string verdict;  ///< accepted, degraded, rejected, unknown
    std::vector<std::pair<std::string, std::string>> fields;
    std::vector<std::string> findings;  ///< one line each: "error: ... [rule, at stage]"
    CellOutcome outcome = CellOutcome::skipped;
    bool chosen = true;  ///< false: it was skipped because others were chosen
    /// Of a cell that was not chosen: what the run before said of it (passed, failed, built, unfinished), so
    /// that it is known as long as others are chosen. Empty: nothing was run.
    std::string last = {};
    std::string reason;  ///< why it was skipped, failed or errored; empty otherwise
    Proof proof = Proof::none;
    std::string image;   ///< Image::id, empty when the cell has none
    std::string log;     ///< path of the log, relative to the output folder
    double seconds = 0;  ///< of the suite's run for this cell
    std::vector<TestResult> tests;
    std::vector<std::string> fixes =
        {};  ///< of each of `findings` what to do about it; an empty text: nothing
};

struct ImageResult {
    std::string id;
    std::string reference;  ///< what the engine knows it by
    std::string digest;     ///< image id of the engine (sha256:...)
    std::string revision;   ///< commit that it was made from, perhaps with "-dirty"; empty: of none
    /// Hashes (64 hex digits) of all that goes into it and into its proof: RenderedImage's. Empty: of a
    /// report of before.
    std::string inputs = {};
    std::string proof_inputs = {};
    std::uint64_t runtime_bytes = 0;
    std::uint64_t proof_bytes = 0;
    bool built = false;
    bool reused = false;   ///< nothing changed since the last build
    std::string error;     ///< why the build failed or was not run; empty otherwise
    bool not_run = false;  ///< `error` is the environment's, and says nothing of the image
    std::string log;       ///< path relative to the output folder
    double seconds = 0;
};

struct RunReport {
    std::string matrix;   ///< its name
    std::string command;  ///< build, test, run
    std::string engine;   ///< docker, and why it was chosen
    std::string engine_why;
    std::string version;
    std::string facts_date;
    std::string facts_hash;
    std::string day = {};  ///< YYYY-MM-DD, on which it was run; empty: of a report of before
    std::string output;    ///< the output folder
    bool gpu = false;      ///< whether a GPU was there to run on
    std::vector<ImageResult> images;
    std::vector<CellResult> cells;
    double seconds = 0;
    int exit_code = 0;
};

namespace report {

/// The machine, or the fleet, that the cells were judged against instead of the values of the file.
struct HostInfo {
    struct Line {
        std::string what;   ///< "driver", "gpu"
        std::string value;  ///< empty: not found
        std::string from;   ///< where it was found, or why it was not
        bool used = true;   ///< false: known, but no cell was changed by it
    };
    std::vector<Line> lines;
    std::vector<std::string> notes;
    std::string who = "this machine";  ///< "node-7.json", "12 machines"
};

/// `fail`: a cell or an image failed. `pass`: every attempted cell ran on a GPU; never without one.
/// `pass-interpreted`: all passed, and of those that did not run on one the kernels were interpreted.
/// `pass-loaded`: all passed, some of them with no kernel executed but on the CPU's own back end. `built`,
/// `rendered`: no more was asked for. `incomplete`: some passed and some were never tested (interrupted).
/// `nothing`: no cell was attempted.
enum class RunResult : std::uint8_t {
    pass,
    pass_interpreted,
    pass_loaded,
    fail,
    built,
    rendered,
    incomplete,
    nothing
};
[[nodiscard]] std::string_view to_string(RunResult result);

struct RunTotals {
    std::array<std::size_t, 6> outcomes{};  ///< results by CellOutcome
    std::size_t attempted = 0;              ///< results that were not skipped
    std::size_t again = 0;                  ///< of those: further images of their cells
    std::size_t interpreted = 0;            ///< results that passed by the interpreter, not on a GPU
    std::size_t images = 0;                 ///< of the attempted results, each once
    std::size_t cells = 0;
    std::size_t accepted = 0;  ///< cells by verdict
    std::size_t degraded = 0;
    std::size_t rejected = 0;
    std::size_t unknown = 0;
    std::size_t not_rendered = 0;  ///< accepted or degraded, and yet no image can be rendered for them
    std::size_t not_chosen = 0;    ///< cells none of whose images was chosen
    std::size_t failed_images = 0;
    RunResult result = RunResult::nothing;

    [[nodiscard]] std::size_t by(CellOutcome outcome) const {
        return outcomes[static_cast<std::size_t>(outcome)];
    }
};

[[nodiscard]] RunTotals totals(const RunReport& report);

/// "pass-interpreted: 8 cells, 3 images: interpreted on the CPU, 8 rejected, 0 unknown"
[[nodiscard]] std::string closing_line(const RunReport& report);

/// How often each text came, in the order in which they first did.
using TextCounts = std::vector<std::pair<std::string, std::size_t>>;
void add_to(TextCounts& counts, std::string_view text);

/// What the tests of one cell came to.
struct TestCounts {
    std::size_t failed = 0;  ///< everything but pass and skip
    std::size_t passed = 0;
    std::size_t interpreted = 0;  ///< passed by the interpreter; not among `passed`
    std::size_t need_gpu = 0;     ///< skipped for want of one
    TextCounts skipped;           ///< the others by reason
};
[[nodiscard]] TestCounts count_tests(const CellResult& cell);

/// "1 failed, 9 passed, 3 interpreted, 5 need a GPU, 2 skipped: no nvcc"; "not tested" of a cell without a
/// test, "failed" or "errored" where that is why. One that failed without a failing test begins so, too.
/// Tests that are not for this cell, or were not asked for (their level), are not counted.
[[nodiscard]] std::string tests_text(const CellResult& cell);

/// The drivers of the tested cells: with which of them something ran on a GPU, and which are predictions.
struct DriversOfRun {
    std::vector<std::string> run;
    std::vector<std::string> predicted;
};
[[nodiscard]] DriversOfRun drivers_of(const RunReport& report);

/// What all cells of one image came to. A test of an image is its id with its part ("cmp.vadd[gpu]"): it
/// counts once, however many cells ran it in this image, by the result that says most: a failure in any cell,
/// else a pass, else that it needs a GPU, else the reason of the first cell that skipped it.
struct ImageCounts {
    std::size_t cells = 0;  ///< that were attempted
    bool tested = false;    ///< some of them have tests
    TestCounts tests;
    DriversOfRun drivers;  ///< of its tested cells
};
/// One for each of report.images.
[[nodiscard]] std::vector<ImageCounts> counts_by_image(const RunReport& report);

/// As tests_text of a cell; "not tested" where no cell of the image was.
[[nodiscard]] std::string tests_text(const ImageCounts& image);

/// "550.54.15 ran, 470.161.03 and 535.183.01 predicted"; more than two of a kind are only counted. Empty
/// where no tested cell names a driver.
[[nodiscard]] std::string drivers_text(const DriversOfRun& drivers);

/// "built", "reused", "failed", "not run"; "-" where nothing was to be built.
[[nodiscard]] std::string_view build_word(const ImageResult& image);

/// "cmp.vadd[gpu]": the test with what it ran on.
[[nodiscard]] std::string test_name(const TestResult& test);

/// Whether all that was attempted of it is well, on a GPU or as far as can be without one.
[[nodiscard]] bool has_passed(CellOutcome outcome);

/// Whether the test makes its cell red: everything but pass and skip.
[[nodiscard]] bool is_failure(TestStatus status);

/// The images of a report by id, for who asks for that of each cell; the report has to outlive it.
class ImagesById {
  public:
    explicit ImagesById(const RunReport& report);

    /// The image of the cell, nullptr when it has none.
    [[nodiscard]] const ImageResult* of(const CellResult& cell) const;

  private:
    std::unordered_map<std::string_view, const ImageResult*> images_;
};

/// A duration as JSON and XML take it: what is not a positive finite number is 0.
[[nodiscard]] double finite_seconds(double seconds);

}  // namespace report
}  // namespace cudamatrix
