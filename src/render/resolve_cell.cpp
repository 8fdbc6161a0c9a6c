#include "render/resolve_cell.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "facts/lookup.hpp"
#include "render/image_fields.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kFamily = "debian";
constexpr std::string_view kArch = "x86_64";

std::string text_of(const Cell& cell, Field field) {
    const auto* value = cell.get(field);
    return value == nullptr ? "" : value->text;
}

std::vector<std::string> strings(std::span<const std::string_view> values) {
    return {values.begin(), values.end()};
}

bool holds(std::span<const std::string_view> values, std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

int number(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string minor_of(std::string_view python) {
    const auto version = Version::parse(python);
    return version ? version->major_minor() + version->suffix() : std::string(python);
}

// "cu124" -> "12.4": what torch.version.cuda says of a build; "None" for one without CUDA.
std::string cuda_of_variant(std::string_view variant) {
    if (!variant.starts_with("cu") || variant.size() < 4) return "None";
    return fmt::format("{}.{}", variant.substr(2, variant.size() - 3), variant.substr(variant.size() - 1));
}

std::string mirror(const Mirrors& mirrors, std::string_view name) {
    for (const auto& [from, to] : mirrors) {
        if (from == name) return to;
    }
    return {};
}

class Resolver {
  public:
    Resolver(const Matrix& matrix, const Cell& cell, const Facts& facts)
        : matrix_(matrix), cell_(cell), facts_(facts) {}

    std::variant<Image, std::string> resolve() {
        // Each step refuses by giving a reason; what comes later builds on what was found before.
        for (const auto step :
             {&Resolver::base, &Resolver::toolkit_version, &Resolver::torch, &Resolver::os, &Resolver::source,
              &Resolver::host_compiler, &Resolver::python, &Resolver::environment}) {
            if (auto reason = (this->*step)(); !reason.empty()) return reason;
        }
        return std::move(image_);
    }

  private:
    std::string base() {
        if (const auto image = text_of(cell_, Field::image); !image.empty()) {
            return fmt::format(
                "image {}: a whole reference is judged but not rendered; write family: {} instead", image,
                kFamily);
        }
        image_.family = cell_.has(Field::family) ? text_of(cell_, Field::family) : std::string(kFamily);
        if (image_.family != kFamily) {
            return fmt::format("family {} is judged but not rendered; write family: {} instead",
                               image_.family, kFamily);
        }
        image_.arch = cell_.has(Field::arch) ? text_of(cell_, Field::arch) : std::string(kArch);
        if (image_.arch != kArch)
            return fmt::format("arch {}: family {} is rendered for {}", image_.arch, kFamily, kArch);
        image_.flavour = cell_.has(Field::flavour) ? text_of(cell_, Field::flavour) : "runtime";
        if (image_.flavour == "base")
            return fmt::format("flavour base: family {} has the flavours runtime and devel", kFamily);
        for (const Field field : {Field::cudnn, Field::cuda_compat}) {
            if (cell_.has(field))
                return fmt::format("{}: family {} does not install it", info(field).name, kFamily);
        }
        return {};
    }

    std::string toolkit_version() {
        const auto text = text_of(cell_, Field::cuda);
        if (text.empty()) return {};
        cuda_ = lookup::cuda(facts_, text);
        if (!cuda_) return fmt::format("cuda {}: no fact knows this release", text);
        image_.cuda = cuda_->exact.text();
        return {};
    }

    std::string torch() {
        const auto text = text_of(cell_, Field::torch);
        if (const auto* packages = cell_.get(Field::packages)) image_.packages = packages->items;
        std::sort(image_.packages.begin(), image_.packages.end());
        if (text.empty() || text == "none") return {};
        torch_ = lookup::torch(facts_, text, image_.arch);
        if (!torch_ || !torch_->release || torch_->variant.empty())
            return fmt::format("torch {}: no fact knows this release", text);
        image_.torch = torch_->exact.text();
        image_.torch_variant = torch_->variant;
        image_.torch_index_default = torch_->index_default;
        image_.torch_cuda = torch_->wheel && torch_->wheel->has("cuda")
                                ? std::string(torch_->wheel->text("cuda"))
                                : cuda_of_variant(torch_->variant);
        if (torch_->index_default) return {};
        const auto index = mirror(matrix_.mirrors, "pytorch");
        if (index.empty()) {
            return fmt::format(
                "torch {}+{} is not the build that the Python index serves: its own index must be named; "
                "write "
                "mirrors: {{pytorch: URL}} (the part before /{})",
                image_.torch, image_.torch_variant, image_.torch_variant);
        }
        image_.torch_index = index + "/" + image_.torch_variant;
        return {};
    }

    std::string os() {
        std::vector<std::string> names;
        std::optional<Row> best;
        const auto wanted = text_of(cell_, Field::os);
        const auto* table = facts_.table("operating_systems");
        for (const auto& row : table == nullptr ? std::vector<Row>{} : table->rows) {
            if (row.text("render") != "true" || !row.text("os").starts_with(kFamily)) continue;
            names.emplace_back(row.text("os"));
            if (wanted.empty() ? fits(row) : row.text("os") == wanted) best = row;
        }
        if (!best && wanted.empty()) {
            return fmt::format("no distribution of family {} has all that the cell needs ({} were tried)",
                               kFamily, text::join(names, ", "));
        }
        if (!best) {
            return fmt::format("os {} is judged but not rendered: family {} is rendered on {}", wanted,
                               kFamily, text::join(names, ", "));
        }
        os_ = best;
        image_.os = best->text("os");
        image_.suite = best->text("codename");
        return {};
    }

    // Whether a distribution may be chosen for a cell that names none.
    [[nodiscard]] bool fits(const Row& os) const {
        const auto python = os.text("python");
        if (cuda_ && !lookup::toolkit_source(facts_, kFamily, os.text("os"), cuda_->exact,
                                             text_of(cell_, Field::cuda_from)))
            return false;
        if (torch_ && torch_->wheel && !holds(torch_->wheel->list("pythons"), python)) return false;
        return !cell_.has(Field::python) || minor_of(text_of(cell_, Field::python)) == python;
    }

    std::string source() {
        if (!cuda_) return {};
        const auto from = text_of(cell_, Field::cuda_from);
        const auto row = lookup::toolkit_source(facts_, kFamily, image_.os, cuda_->exact, from);
        if (!row) {
            return fmt::format("CUDA {} has no source{} for family {} on {}", image_.cuda,
                               from.empty() ? "" : " (" + from + ")", kFamily, image_.os);
        }
        image_.cuda_source = row->id();
        image_.cuda_from = row->text("cuda_from");
        image_.cuda_unpack = strings(row->list("unpack"));
        image_.cuda_packages = strings(row->list("package"));
        image_.cuda_runtime = strings(row->list("runtime"));
        image_.cuda_pins = strings(row->list("pins"));
        const bool archive = image_.cuda_from == "archive";
        if (archive ? image_.cuda_packages.empty() : image_.cuda_pins.empty()) {
            return fmt::format("the fact {} does not say what to install", image_.cuda_source);
        }
        return {};
    }

    // The newest gcc of the distribution that the toolkit takes, unless the cell names one.
    std::string host_compiler() {
        const auto wanted = text_of(cell_, Field::compiler);
        if (!wanted.empty()) {
            if (!wanted.starts_with("gcc-"))
                return fmt::format("compiler {}: family {} compiles with gcc", wanted, kFamily);
            image_.compiler = "g++-" + text::split(wanted.substr(4), '.').front();
            return {};
        }
        int major = number(os_->text("gcc"));
        if (cuda_ && cuda_->toolkit && cuda_->toolkit->has("gcc_max"))
            major = std::min(major, number(cuda_->toolkit->text("gcc_max")));
        if (major == 0) return fmt::format("os {}: no fact knows its compiler", image_.os);
        image_.compiler = fmt::format("g++-{}", major);
        return {};
    }

    std::string python() {
        const auto wanted = text_of(cell_, Field::python);
        const std::string own(os_->text("python"));
        if (!wanted.empty() && minor_of(wanted) != own) {
            return fmt::format("python {}: family {} takes the distribution's python, which is {} on {}",
                               wanted, kFamily, own, image_.os);
        }
        if (!wanted.empty() || torch_ || !image_.packages.empty()) image_.python = own;
        return {};
    }

    // Of NVIDIA's variables only these two are rendered, from closed lists: others decide what a privileged
    // hook does.
    std::string environment() {
        const auto* env = cell_.get(Field::env);
        if (env == nullptr) return {};
        for (const auto& [name, value] : env->items) {
            if (name.starts_with("NVIDIA_")) {
                if (name != "NVIDIA_VISIBLE_DEVICES" && name != "NVIDIA_DRIVER_CAPABILITIES") continue;
                if (!closed(name, value))
                    return fmt::format("env {} {}: not a value that is rendered", name, value);
            }
            image_.env.emplace_back(name, value);
        }
        std::sort(image_.env.begin(), image_.env.end());
        return {};
    }

    static bool closed(std::string_view name, std::string_view value) {
        static constexpr std::array<std::string_view, 3> devices{"all", "none", "void"};
        static constexpr std::array<std::string_view, 8> capabilities{
            "all", "compute", "utility", "graphics", "video", "display", "ngx", "compat32"};
        if (name == "NVIDIA_VISIBLE_DEVICES")
            return std::find(devices.begin(), devices.end(), value) != devices.end();
        const auto parts = text::split(value, ',');
        return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
            return std::find(capabilities.begin(), capabilities.end(), part) != capabilities.end();
        });
    }

    const Matrix& matrix_;
    const Cell& cell_;
    const Facts& facts_;
    Image image_;
    std::optional<lookup::Cuda> cuda_;
    std::optional<lookup::Torch> torch_;
    std::optional<Row> os_;
};

std::string short_hash(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string all;
    for (const auto& [name, value] : pairs)
        all += fmt::format("{} {}\n", name, value);
    return sha256(all).substr(0, 8);
}

// The compiler that the image would get if no cell named one.
bool is_default_compiler(const Image& image, const Facts& facts) {
    const auto os = lookup::os(facts, image.os);
    const auto cuda = image.cuda.empty() ? std::nullopt : lookup::cuda(facts, image.cuda);
    int major = os ? number(os->text("gcc")) : 0;
    if (cuda && cuda->toolkit && cuda->toolkit->has("gcc_max"))
        major = std::min(major, number(cuda->toolkit->text("gcc_max")));
    return image.compiler == fmt::format("g++-{}", major);
}

}  // namespace

std::variant<Image, std::string> resolve_cell(const Matrix& matrix, const Cell& cell, const Facts& facts) {
    return Resolver(matrix, cell, facts).resolve();
}

// What the steps of Resolver look at and put into the image; what they only refuse is not here.
FieldSet image_fields() {
    return {Field::family, Field::arch,     Field::flavour, Field::cuda,      Field::torch, Field::packages,
            Field::os,     Field::compiler, Field::python,  Field::cuda_from, Field::env};
}

std::string compute_of(const Cell& cell, const Facts& facts) {
    auto text = text_of(cell, Field::compute);
    if (text.empty() && cell.has(Field::gpu)) {
        const auto row = lookup::gpu(facts, text_of(cell, Field::gpu));
        if (row) text = row->text("compute");
    }
    const auto version = Version::parse(text);
    return version ? version->major_minor() : "";
}

std::string image_id(const Image& image, const Facts& facts) {
    std::string id = image.os;
    if (!image.cuda.empty()) {
        id += "-cu" + image.cuda;
        // The source is part of the id where it is not the one that the release has by itself.
        const auto usual =
            lookup::toolkit_source(facts, image.family, image.os, *Version::parse(image.cuda), "");
        if (!usual || usual->id() != image.cuda_source) id += "_" + image.cuda_from;
    }
    if (!image.torch.empty()) id += fmt::format("-torch{}_{}", image.torch, image.torch_variant);
    if (image.torch.empty() && image.packages.empty() && !image.python.empty()) id += "-py" + image.python;
    if (!is_default_compiler(image, facts)) id += "-gcc" + image.compiler.substr(4);
    if (image.flavour != "runtime") id += "-" + image.flavour;
    if (!image.packages.empty()) id += "-pkg" + short_hash(image.packages);
    if (!image.env.empty()) id += "-env" + short_hash(image.env);
    return id;
}

std::string content_key(const Image& image) {
    std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {}", image.family, image.os, image.arch,
                                  image.flavour, image.cuda, image.cuda_source, image.compiler, image.torch,
                                  image.torch_variant, image.python);
    for (const auto& [name, value] : image.packages)
        key += fmt::format("\n{} {}", name, value);
    key += "\n";
    for (const auto& [name, value] : image.env)
        key += fmt::format("\n{} {}", name, value);
    return key;
}

}  // namespace cudamatrix
