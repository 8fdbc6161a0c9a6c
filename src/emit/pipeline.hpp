// What is emitted, whatever it is emitted for: the tasks of a matrix, one for each image and machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "matrix/matrix.hpp"
#include "render/files/artifacts.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::emit {

/// What the suite is asked for a cell where a cluster starts its image, and what the container needs.
struct ClusterTest {
    std::vector<std::string> arguments;  ///< of the suite; its run id is the plan id, which `collect` expects
    std::string compute;                 ///< "7.5"; empty: the cell names no device
    std::string driver;                  ///< as the cell has it: a release or a branch; empty: any
    bool gpu = false;
    unsigned memory_mib = 4096;
    unsigned shm_mib = 64;
};

/// A cell that is to be tested, in one of its images.
struct WantedCell {
    std::string id;
    const Cell* cell = nullptr;
    std::size_t image = 0;  ///< its place in Input::images
    ClusterTest test = {};
};

/// Options that every command of a pipeline gets as `emit` got them.
struct Typed {
    std::vector<std::string> judging;    ///< of all that judge: --facts, --on, --override
    std::vector<std::string> rendering;  ///< of all that render as well: --templates
};

/// What emitters work on; all of it outlives the call.
struct Input {
    const Matrix& matrix;
    const Facts& facts;
    const std::vector<Image>& images;
    const std::vector<RenderedImage>& rendered;  ///< rendered[i] belongs to images[i]
    std::vector<WantedCell> cells;               ///< in the order of the file
    std::vector<std::vector<std::size_t>>
        shared;             ///< images whose builds have a stage in common; where it counts (Emitter::waits)
    std::string runs;       ///< output folder of the runs: "cudamatrix-out/NAME"
    std::string folder;     ///< where the emitted files lie, for what refers to them
    std::size_t split = 0;  ///< most tasks of one shard; 0: as many as the system takes
    bool is_part = false;   ///< `cells` are not all that the images have: of each the cells are named
    Typed typed = {};
};

/// What one machine is asked for: one image, and the cells of it that this machine can run.
struct Task {
    std::string name;  ///< unique; letters, digits, '.', '_' and '-'
    std::size_t image = 0;
    std::vector<std::string> cells;   ///< empty: all of the image
    std::vector<std::string> labels;  ///< of the machine; empty: the matrix file names none
    bool gpu = false;                 ///< it has the cells' GPU
    /// Images whose builds make a stage that this one needs, too: it finds them in a cache once they are
    /// done. Empty: it waits for none.
    std::vector<std::size_t> after;
};

/// Where a cluster finds an image of a matrix with emit.registry, its name made of all that went into it:
/// "REGISTRY/cudamatrix/NAME:ID-3f2a...", the proof's with "-proof" behind. Another content has another name.
[[nodiscard]] std::string cluster_reference(const Input& input, std::size_t image, bool proof);

/// An input failure that says which key is missing, where there is no emit.registry.
[[nodiscard]] Status require_registry(const Input& input, std::string_view target);

/// Every cell is in one task. The machine of a cell is the first of emit.machines that matches it.
[[nodiscard]] std::vector<Task> tasks_of(const Input& input);

/// `cudamatrix run ...` of a task, as it is typed in the folder of the repository, with `out` as its folder.
[[nodiscard]] std::string run_line(const Input& input, const Task& task, const std::string& out);

/// Where the results of all tasks lie, a folder for each.
[[nodiscard]] std::string results_folder(const Input& input);
[[nodiscard]] std::string results_folder(const Input& input, const Task& task);

/// "cudamatrix-NAME", and of a shard "cudamatrix-NAME-2".
[[nodiscard]] std::string file_stem(const Input& input, std::size_t shard = 0);

/// `cudamatrix emit TARGET ...` that writes these very files, in words and as a line.
[[nodiscard]] std::vector<std::string> emit_words(const Input& input, std::string_view target);
[[nodiscard]] std::string emit_line(const Input& input, std::string_view target);

/// `cudamatrix COMMAND MATRIX`, with what was typed, as a line that can go on; "emit bake" is a command.
[[nodiscard]] std::string command_on_matrix(const Input& input, std::string_view command);

/// Lines of the first job of every pipeline: which verdicts moved since the lock, and whether the files are
/// what the matrix gives.
[[nodiscard]] std::vector<std::string> check_lines(const Input& input, std::string_view target);

/// `cudamatrix collect ...` of all results as one report of that format, in folder `summary` as well.
[[nodiscard]] std::string collect_line(const Input& input, const std::string& results,
                                       std::string_view format);

/// The words as one line for a shell.
[[nodiscard]] std::string command_line(const std::vector<std::string>& words);

/// Tasks in lists of at most `most` (or Input::split, where that is less).
[[nodiscard]] std::vector<std::vector<Task>> in_shards(const Input& input, std::vector<Task> tasks,
                                                       std::size_t most);

/// Where machines that have no cudamatrix put it, in the folder of the repository.
inline constexpr std::string_view kToolFolder = ".cudamatrix";

/// The script that gets and builds the tool of emit.tool, where it is not there yet, and puts it on PATH;
/// nothing where the machines have it.
[[nodiscard]] std::vector<Artifact> tool_files(const Input& input);

/// The line of a shell that runs this script, to stand before all others; empty where there is none.
[[nodiscard]] std::string tool_line(const Input& input);

/// The comment at the head of every emitted file, without the comment sign, a line each.
[[nodiscard]] std::vector<std::string> head_of(const Input& input, std::string_view target);

/// Done where the pipeline can name the matrix file as it was named: an input failure where that is no plain
/// path below the folder of the repository.
[[nodiscard]] Status check_paths(const Input& input);

/// An input failure where a file is larger than the system takes it.
[[nodiscard]] Status check_size(const std::vector<Artifact>& files, std::size_t most,
                                std::string_view system);

/// A task that went wrong on a machine without the GPU is seen as such, and what passed as far as can be has
/// passed.
[[nodiscard]] std::string_view demand_of(const Task& task);

}  // namespace cudamatrix::emit
