// What the files of advise/audit share.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "advise/audit/audit.hpp"
#include "knowledge/facts/images.hpp"

namespace cudamatrix::audit {

/// A value and where it is written.
struct Chosen {
    std::string text;
    Location where = {};
};

/// What the name of a base image tells.
struct BaseImage {
    bool known = false;      ///< facts describe the image
    bool told = false;       ///< they do not, and its name says what there is to know
    std::string os;          ///< ubuntu22.04; empty: not told
    std::string python;      ///< 3.11 of python:3.11-slim
    std::string torch;       ///< of pytorch/pytorch: 2.1.0
    bool own_torch = false;  ///< it holds one, whichever
    bool cuda = false;       ///< nvidia/cuda and what is built on it: it brings a toolkit or its libraries
    bool conda = false;      ///< it brings conda
    bool jetson = false;     ///< made for Jetson
};
[[nodiscard]] BaseImage base_image(std::string_view reference, const Facts& facts);

// Which python a command means.

class Pythons {
  public:
    /// `image`: where the base image is written.
    void begin(const BaseImage& base, std::string of_system, const Location& image);
    void take(const sources::PythonChoice& choice);
    /// uv is told which by its variable.
    void take_uv(const sources::Word& value);
    void take_conda(Chosen python) { conda_ = std::move(python); }
    /// A package of the distribution that brings its python.
    void take_package(std::string_view name, const Location& where);

    /// Of an install; empty text: nobody knows.
    [[nodiscard]] Chosen of(const sources::PipInstall& install) const;
    /// Of an image that installs nothing by pip.
    [[nodiscard]] Chosen of_image() const;
    /// Whether a plain `pip` is what decides: nothing chose another python on purpose.
    [[nodiscard]] bool is_plain(const sources::PipInstall& install) const;
    /// The python that CMD or ENTRYPOINT names by its version, or by a link to one.
    [[nodiscard]] Chosen started_by(const sources::Start& start) const;
    [[nodiscard]] const Chosen& conda() const { return conda_; }
    /// A plain pip that writes into what the distribution manages (PEP 668).
    [[nodiscard]] bool writes_into_system(const sources::PipInstall& install) const;
    /// Conda is there, and no environment with a python that is written.
    [[nodiscard]] bool is_open_conda() const {
        return base_.conda && conda_.text.empty() && venv_.text.empty();
    }

  private:
    [[nodiscard]] Chosen python3() const;

    BaseImage base_;
    Chosen system_;  // of the image or of the distribution
    bool system_is_there_ = false;
    bool has_venv_ = false;
    Chosen venv_, pip_, conda_;
    std::map<std::string, Chosen> commands_;
};
/// "3.11" of 3.11.4.
[[nodiscard]] std::string python_minor(std::string_view version);

// Which torch an install takes.

/// What decides which release pip takes.
struct TorchDemand {
    std::string specifier;    ///< "==2.1.0", ">=2.0"; empty: any
    std::string variant;      ///< of the index: cu121; empty: the default index
    bool only_index = false;  ///< no other index is asked
    std::string python;       ///< 3.10; empty: not known
    std::string arch = "x86_64";
    std::string today = {};  ///< YYYY-MM-DD; empty: whatever the facts know
};
struct TorchChoice {
    std::string text;     ///< 2.1.0+cu121, 2.1.0; empty: nobody knows
    bool chosen = false;  ///< the file leaves it to pip
};
[[nodiscard]] TorchChoice torch_choice(const TorchDemand& demand, const Facts& facts);

/// "cu121" of .../whl/cu121 and torch-backend:cu121, "rocm" of one for ROCm, "nightly"; empty for other
/// indexes.
[[nodiscard]] std::string variant_of_index(std::string_view url);
/// "2.1.0" of "==2.1.0" and "===2.1.0"; empty where several would do.
[[nodiscard]] std::string exact_version(std::string_view specifier);
using sources::is_open;

/// A torch that is there, from where it is written.
struct Torch {
    std::string text;     ///< 2.1.0+cu121
    std::string variant;  ///< of its index
    Location where;
    Chosen python;  ///< for which it was installed; empty text: nobody knows
};

/// Requirements of an install by their names, without torch.
using Pins = std::map<std::string, const sources::Requirement*>;
struct TorchInstall {
    const sources::PipInstall& install;
    const sources::Requirement& requirement;
    std::vector<sources::Index> indexes;  ///< of the options and of variables
    Chosen python;
    std::string arch;
    std::string today;
    const BaseImage& base;
    bool is_open = false;  ///< a python, or an install before, is not known: nobody can tell what pip takes
    const Pins& pins;
    const std::optional<Torch>& before;
    bool compares_indexes =
        false;  ///< the highest version of any index is taken, as pip does and uv when told
};
struct TorchOutcome {
    std::optional<Torch> torch;
    std::string skipped;  ///< why there is none
    std::string note;     ///< "torch>=2.0 is 2.15.0 today"
    std::vector<Finding> findings;
};
[[nodiscard]] TorchOutcome torch_of(const TorchInstall& asked, const Facts& facts);
/// Of conda's channel pytorch, where a fact describes the same build as a wheel.
[[nodiscard]] TorchOutcome torch_of_conda(const sources::CondaInstall& install, const Chosen& python,
                                          const std::string& arch, const Facts& facts);

// What an environment holds at the end, and the cell that it makes.

struct Held {
    sources::Word image;
    BaseImage base;
    std::string arch = "x86_64";
    bool arch_is_written = false;
    Chosen python;
    std::optional<Torch> torch;
    std::map<std::string, Chosen> packages;
    std::map<std::string, std::size_t> installs;  ///< of torch and packages: the number of the install
    bool into_system = false;                     ///< a plain pip writes into the python of the distribution
    std::map<std::string, sources::Word> variables;
    std::optional<Chosen> toolkit, cudnn, compat, compiler;
    bool compiler_is_named = false;  ///< gcc-11, not just gcc
    std::vector<std::string> gencode;
    Location gencode_where;
    std::size_t packages_without_facts = 0;
};

struct Holds {
    std::vector<std::pair<Field, Value>> values;
    std::vector<std::pair<Field, Value>> of_nvcc;  ///< a cell of its own: what nvcc is told beside a torch
    bool compiles = false;                         ///< something is told to compile CUDA code
    std::vector<Waiver> settled;                   ///< rules whose question the files answer otherwise
    std::map<std::string, Stack::Place> places;
    std::vector<std::string> notes;
    std::vector<Finding> findings;
    std::vector<sources::Skipped> skipped;
};

struct FoldContext {
    const Facts& facts;
    const Options& options;
    const sources::Source& source;
    std::string folder;  ///< of the file, for what it names
    const ReadFile& read;
    std::vector<sources::Source>& files;               ///< what was read on the way
    std::set<std::string>& followed;                   ///< their paths
    const std::vector<sources::Step>* more = nullptr;  ///< of a compose service
};
/// All steps of a stage and of those that it stands on.
[[nodiscard]] Holds fold(const FoldContext& context, std::size_t stage);
/// The cell of what is held: fills `values`, `of_nvcc` and `skipped`.
void make_cell(const Held& held, const FoldContext& context, Holds& out);

// Stages.

/// The last stage before number `before` that COPY --from or --target means by this text: its name or number.
[[nodiscard]] std::optional<std::size_t> stage_named(const sources::Source& source, std::string_view text,
                                                     std::size_t before);
/// For each stage whether BuildKit makes it for an image of `target`: that itself, and what it stands on or
/// copies from (https://docs.docker.com/build/building/multi-stage/).
[[nodiscard]] std::vector<bool> built_with(const sources::Source& source, std::size_t target);

// Mistakes.

[[nodiscard]] Finding found(std::string_view id, const Location& where, std::string message, std::string fix);
/// Stages that nothing uses, of a Dockerfile.
void find_unused_stages(const sources::Source& source, const Facts& facts, std::vector<Finding>& out);
/// --find-links and indexes that are none, of options and of variables.
void find_wrong_indexes(const std::vector<sources::Index>& indexes, std::vector<Finding>& out);

}  // namespace cudamatrix::audit
