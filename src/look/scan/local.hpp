// Scans what lies on this machine's disk: a file, or every file of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"
#include "base/process.hpp"
#include "base/result.hpp"
#include "look/scan/library.hpp"

namespace cudamatrix::scan {

struct Options {
    Depth depth = {};
    const Cancellation* cancellation = nullptr;  ///< looked at between files
    /// Of a wheel only these members are read; none: all of them.
    std::function<bool(const std::string& path)> wanted = {};
    /// Told of each large part that comes over a network, when it starts and after each fifth of it:
    /// "torch/lib/libtorch_cuda.so (362 MB): 20 %".
    std::function<void(const std::string& line)> progress = {};
};

/// Tells Options::progress how far a part is.
class Meter {
  public:
    /// `name` as it is shown; `transfer`: bytes over the network; `size`: what will be counted.
    Meter(const Options& options, std::string_view name, std::uint64_t transfer, std::uint64_t size);
    void add(std::uint64_t bytes);

  private:
    void say() const;
    const Options& options_;
    std::string name_;
    std::uint64_t size_;
    std::uint64_t done_ = 0;
    unsigned fifths_ = 0;
    bool counts_;
};

/// A file below a target that could not be read: permissions, I/O.
struct NotRead {
    std::string path;
    std::string why;
};

/// What one target holds. In a file there is one library; of what holds many files those with device code are
/// listed, and those that are damaged.
struct Scan {
    std::string target;              ///< as the user wrote it
    std::string kind;                ///< "file", "folder", "wheel", "image"
    std::vector<Library> libraries;  ///< by path
    std::vector<NotRead> not_read;
    std::uint64_t files = 0;              ///< looked at
    std::vector<std::string> notes = {};  ///< what else the user should know: "sha256 ... checked"
};

/// A file or a folder. Symbolic links below a folder are not followed: what they point to inside of it is
/// found by itself. Input failures: nothing is there, or it is a file that can hold no device code;
/// environment failures: it cannot be read.
[[nodiscard]] Result<Scan> scan_local(const std::string& path, const Options& options);

/// Is the library worth a line in the list of a folder, a wheel or an image?
[[nodiscard]] bool worth_listing(const Library& library);

// A file on disk as a source of bytes, read piece by piece.

/// Not mapped: a mapped file would count as memory of this program, page by page. A missing file and what is
/// no regular file are input failures, others of the environment.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

/// All its bytes, in pieces of up to 1 MiB.
[[nodiscard]] Status read_all(ByteSource& source, const ByteSink& sink);

// Which code of a library would run on a GPU, and whether the driver could compile what is PTX only.

/// What is asked for: one GPU, under one driver or under none in particular.
struct Question {
    std::string gpu;  ///< "T4 (compute 7.5)", "compute 7.5"
    fatbin::Arch arch;
    std::string driver;                     ///< "driver 535.309.01"; empty: none was given
    std::optional<fatbin::PtxIsa> ptx_isa;  ///< the newest that the driver compiles, where that is known
};

enum class Outcome {
    runs,        ///< Cover::code_path says how
    no_code,     ///< none of its code can run there
    unknown,     ///< it may: the file is damaged, or nothing is known of the driver's PTX ISA
    no_kernels,  ///< it holds nothing that would have to run
};

struct Answer {
    std::size_t library = 0;   ///< index into the scan's libraries
    std::size_t question = 0;  ///< index into the questions
    Outcome outcome = Outcome::no_kernels;
    fatbin::Cover cover;
    std::string text;  ///< "sass 7.5", "ptx 9.0 via JIT", "none: ..."
};

[[nodiscard]] Answer answer_to(const Library& library, const Question& question);

/// For every library of the scan every question, in their order.
[[nodiscard]] std::vector<Answer> answers(const Scan& scan, const std::vector<Question>& questions);

}  // namespace cudamatrix::scan
