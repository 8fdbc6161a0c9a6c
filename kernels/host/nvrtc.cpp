#include "kernels/host/nvrtc.hpp"

#include "kernels/host/library.hpp"

namespace cudamatrix::suite {

Nvrtc::Nvrtc(void* library) {
    complete_ = bind_symbol(library, "nvrtcVersion", version_) &&
                bind_symbol(library, "nvrtcCreateProgram", create_) &&
                bind_symbol(library, "nvrtcCompileProgram", compile_) &&
                bind_symbol(library, "nvrtcDestroyProgram", destroy_) &&
                bind_symbol(library, "nvrtcGetProgramLogSize", log_size_) &&
                bind_symbol(library, "nvrtcGetProgramLog", log_);
    int kind = 0;
    for (const char* name : {"CUBIN", "PTX", "LTOIR"}) {
        const std::string get = std::string("nvrtcGet") + name;
        const bool both =
            bind_symbol(library, get + "Size", size_[kind]) && bind_symbol(library, get, bytes_[kind]);
        complete_ = complete_ && (both || kind == static_cast<int>(Kind::lto));
        ++kind;
    }
}

std::string Nvrtc::version() const {
    int major = 0;
    int minor = 0;
    if (version_ == nullptr || version_(&major, &minor) != 0) return "";
    return std::to_string(major) + "." + std::to_string(minor);
}

int Nvrtc::fetch(Program program, Size size, Bytes bytes, std::string& into) {
    constexpr std::size_t kMost = std::size_t{64} << 20;
    std::size_t n = 0;
    int code = size == nullptr || bytes == nullptr ? kNvrtcAbsent : size(program, &n);
    if (code != 0 || n > kMost) return code != 0 ? code : kNvrtcAbsent;
    into.assign(n, '\0');
    code = bytes(program, into.data());
    return code;
}

NvrtcOutput Nvrtc::compile(const std::string& source, const std::vector<std::string>& options,
                           Kind kind) const {
    NvrtcOutput output;
    if (!complete_) {
        output.code = kNvrtcAbsent;
        return output;
    }
    Program program = nullptr;
    output.code = create_(&program, source.c_str(), "cudamatrix_jit.cu", 0, nullptr, nullptr);
    if (output.code != 0) return output;
    std::vector<const char*> words;
    for (const std::string& option : options)
        words.push_back(option.c_str());
    output.code = compile_(program, static_cast<int>(words.size()), words.data());
    static_cast<void>(fetch(program, log_size_, log_, output.log));
    output.log = output.log.substr(0, output.log.find_first_of(std::string("\n\0", 2)));
    const auto which = static_cast<std::size_t>(kind);
    if (output.code == 0) output.code = fetch(program, size_[which], bytes_[which], output.binary);
    destroy_(&program);
    return output;
}

}  // namespace cudamatrix::suite
