#include "kernels/support/context.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>

#include "fatbin/arch.hpp"

namespace cudamatrix::suite {
namespace {

struct Option {
    const char* name;
    const char* value_name;  ///< nullptr: a flag
    const char* meaning;
    std::function<bool(Context&, const std::string&)> read;  ///< false: not an acceptable value
    std::function<void(const Context&, std::vector<std::string>&)> write;
};

bool to_int(const std::string& text, int& value) {
    char* end = nullptr;
    const long number = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || number < 0 || number > 1000000000) return false;
    value = static_cast<int>(number);
    return true;
}

Option text_option(const char* name, const char* value_name, const char* meaning,
                   std::string Context::*member, bool (*accept)(const std::string&) = nullptr) {
    const std::string standard = Context().*member;
    return {name, value_name, meaning,
            [=](Context& c, const std::string& value) {
                if (accept != nullptr && !accept(value)) return false;
                c.*member = value;
                return true;
            },
            [=](const Context& c, std::vector<std::string>& out) {
                if (c.*member != standard) out.insert(out.end(), {name, c.*member});
            }};
}

Option int_option(const char* name, const char* value_name, const char* meaning, int Context::*member) {
    const int standard = Context().*member;
    return {name, value_name, meaning,
            [=](Context& c, const std::string& value) { return to_int(value, c.*member); },
            [=](const Context& c, std::vector<std::string>& out) {
                if (c.*member != standard) out.insert(out.end(), {name, std::to_string(c.*member)});
            }};
}

Option list_option(const char* name, const char* value_name, const char* meaning,
                   std::vector<std::string> Context::*member) {
    return {name, value_name, meaning,
            [=](Context& c, const std::string& value) {
                if (value.empty()) return false;
                std::size_t begin = 0;
                while (begin <= value.size()) {
                    const std::size_t end = std::min(value.find(',', begin), value.size());
                    if (end == begin) return false;
                    (c.*member).push_back(value.substr(begin, end - begin));
                    begin = end + 1;
                }
                return true;
            },
            [=](const Context& c, std::vector<std::string>& out) {
                for (const std::string& item : c.*member)
                    out.insert(out.end(), {name, item});
            }};
}

bool is_device(const std::string& text) {
    const auto arch = fatbin::parse_arch(text);
    return arch && arch->variant == fatbin::Variant::base;
}
bool is_isa(const std::string& text) {
    return fatbin::parse_ptx_isa(text).has_value();
}
bool is_version(const std::string& text) {
    return !major_minor(text).empty();
}
bool is_level(const std::string& text) {
    return text == "quick" || text == "standard" || text == "full" || text == "soak";
}

Option mode_option() {
    return {"--mode", "auto|gpu|nogpu", "use a GPU when there is one; insist on one; do not touch one",
            [](Context& c, const std::string& value) {
                if (value == "auto") return c.mode = Mode::automatic, true;
                if (value == "gpu") return c.mode = Mode::gpu, true;
                if (value == "nogpu") return c.mode = Mode::nogpu, true;
                return false;
            },
            [](const Context& c, std::vector<std::string>& out) {
                if (c.mode == Mode::gpu) out.insert(out.end(), {"--mode", "gpu"});
                if (c.mode == Mode::nogpu) out.insert(out.end(), {"--mode", "nogpu"});
            }};
}

Option require_gpu_option() {
    return {"--require-gpu", nullptr, "no GPU is a failure",
            [](Context& c, const std::string&) { return c.require_gpu = true, true; },
            [](const Context& c, std::vector<std::string>& out) {
                if (c.require_gpu) out.emplace_back("--require-gpu");
            }};
}

Option limit_option() {
    return {"--limit-seconds", "S", "time limit of each test instead of the registry's",
            [](Context& c, const std::string& value) {
                char* end = nullptr;
                c.limit_seconds = std::strtod(value.c_str(), &end);
                return !value.empty() && *end == '\0' && c.limit_seconds > 0 && c.limit_seconds < 1e6;
            },
            [](const Context& c, std::vector<std::string>& out) {
                if (c.limit_seconds > 0)
                    out.insert(out.end(), {"--limit-seconds", std::to_string(c.limit_seconds)});
            }};
}

const std::vector<Option>& options() {
    static const std::vector<Option> kOptions = {
        text_option("--cell", "ID", "id of the cell that this image is for", &Context::cell),
        text_option("--run", "RUNID", "id of this run, repeated in every line", &Context::run),
        text_option("--compute", "X.Y", "compute capability of the cell's GPU", &Context::compute, is_device),
        text_option("--ptx-isa", "X.Y", "newest PTX ISA that the cell's driver compiles", &Context::ptx_isa,
                    is_isa),
        text_option("--expect-cuda", "X.Y", "toolkit version that the image promises", &Context::expect_cuda,
                    is_version),
        text_option("--expect-torch", "VERSION", "torch version that the image promises",
                    &Context::expect_torch, is_version),
        text_option("--expect-torch-cuda", "X.Y", "CUDA that this torch was built for",
                    &Context::expect_torch_cuda, is_version),
        list_option("--lib", "NAME,..", "CUDA libraries that the image promises, as dlopen takes them",
                    &Context::libs),
        list_option("--fatbin", "PATH,..", "further files whose device code is listed", &Context::fatbins),
        text_option("--python", "PROGRAM", "python of the torch tests (default python3)", &Context::python),
        int_option("--gpus", "N", "number of GPUs that the cell promises", &Context::gpus),
        int_option("--min-memory-mib", "N", "memory of each GPU that the cell promises",
                   &Context::min_memory_mib),
        int_option("--min-shm-mib", "N", "size of /dev/shm that the cell promises", &Context::min_shm_mib),
        text_option("--level", "quick|standard|full|soak", "how much to run (default quick)", &Context::level,
                    is_level),
        int_option("--soak-seconds", "N", "at level soak: how long stress.sustained computes (default 600)",
                   &Context::soak_seconds),
        mode_option(),
        require_gpu_option(),
        list_option("--only", "ID,..", "run these tests only", &Context::only),
        limit_option(),
        text_option("--root", "DIR", "look for /proc and /dev below DIR", &Context::root),
        text_option("--prefix", "DIR",
                    "folder of bin/, python/ and static.jsonl (default: that of this program)",
                    &Context::prefix),
        text_option("--part", "gpu|cpu", "which part of a test to run (used between the suite's programs)",
                    &Context::part),
        int_option("--record-fd", "N", "descriptor for the record (used between the suite's programs)",
                   &Context::record_fd),
    };
    return kOptions;
}

}  // namespace

std::optional<Context> parse_context(const std::vector<std::string>& args, std::string& error) {
    Context context;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const Option* found = nullptr;
        for (const Option& option : options()) {
            if (args[i] == option.name) found = &option;
        }
        if (found == nullptr) {
            error = "unknown option " + args[i];
            return std::nullopt;
        }
        std::string value;
        if (found->value_name != nullptr) {
            if (i + 1 == args.size()) {
                error = args[i] + " takes a value: " + found->value_name;
                return std::nullopt;
            }
            value = args[++i];
        }
        if (!found->read(context, value)) {
            error = std::string(found->name) + " '" + value + "': expected " + found->value_name;
            return std::nullopt;
        }
    }
    return context;
}

std::vector<std::string> to_args(const Context& context) {
    std::vector<std::string> args;
    for (const Option& option : options())
        option.write(context, args);
    return args;
}

std::string context_usage() {
    std::string text;
    for (const Option& option : options()) {
        std::string left = std::string("  ") + option.name;
        if (option.value_name != nullptr) left += std::string(" ") + option.value_name;
        constexpr std::size_t kColumn = 34;
        left.resize(std::max(left.size() + 2, kColumn), ' ');
        text += left + option.meaning + "\n";
    }
    return text;
}

std::string major_minor(const std::string& version) {
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t begin = at;
        while (at < version.size() && std::isdigit(static_cast<unsigned char>(version[at])) != 0)
            ++at;
        return at - begin;
    };
    if (digits() == 0 || at >= version.size() || version[at] != '.') return "";
    ++at;
    if (digits() == 0) return "";
    return version.substr(0, at);
}

int compare_versions(const std::string& a, const std::string& b) {
    const char* p = a.c_str();
    const char* q = b.c_str();
    while (*p != '\0' || *q != '\0') {
        char* p_end = nullptr;
        char* q_end = nullptr;
        const long x = std::strtol(p, &p_end, 10);
        const long y = std::strtol(q, &q_end, 10);
        if (x != y) return x < y ? -1 : 1;
        if (*p_end == *q_end && *p_end != '.') return 0;
        p = *p_end == '.' ? p_end + 1 : "";
        q = *q_end == '.' ? q_end + 1 : "";
    }
    return 0;
}

}  // namespace cudamatrix::suite
