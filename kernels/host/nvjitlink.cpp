#include "kernels/host/nvjitlink.hpp"

#include "kernels/host/library.hpp"

namespace cudamatrix::suite {
namespace {

/// The names that programs are linked with carry a release: 12.0 has no others, and every 12.x has those.
template <typename Function>
bool bind_link(void* library, const std::string& name, Function& function) {
    return bind_symbol(library, "nvJitLink" + name, function) ||
           bind_symbol(library, "__nvJitLink" + name + "_12_0", function);
}

}  // namespace

NvJitLink::NvJitLink(void* library) {
    static_cast<void>(bind_symbol(library, "nvJitLinkVersion", version_));
    complete_ = bind_link(library, "Create", create_) && bind_link(library, "Destroy", destroy_) &&
                bind_link(library, "AddData", add_) && bind_link(library, "Complete", complete_link_) &&
                bind_link(library, "GetErrorLogSize", log_size_) && bind_link(library, "GetErrorLog", log_) &&
                bind_link(library, "GetLinkedCubinSize", cubin_size_) &&
                bind_link(library, "GetLinkedCubin", cubin_);
}

std::string NvJitLink::version() const {
    unsigned major = 0;
    unsigned minor = 0;
    if (version_ == nullptr || version_(&major, &minor) != 0) return "";
    return std::to_string(major) + "." + std::to_string(minor);
}

template <typename Byte>
int NvJitLink::fetch(Handle handle, Size size, int (*bytes)(Handle, Byte*), std::string& into) {
    constexpr std::size_t kMost = std::size_t{64} << 20;
    std::size_t n = 0;
    const int code = size(handle, &n);
    if (code != 0 || n > kMost) return code != 0 ? code : kNvJitLinkAbsent;
    into.assign(n, '\0');
    return n == 0 ? 0 : bytes(handle, into.data());
}

int NvJitLink::add_all(Handle handle, const std::vector<LinkInput>& inputs) const {
    for (const LinkInput& input : inputs) {
        const int code = add_(handle, static_cast<int>(input.kind), input.bytes.data(), input.bytes.size(),
                              "cudamatrix_jit");
        if (code != 0) return code;
    }
    return complete_link_(handle);
}

LinkOutput NvJitLink::link(const std::vector<LinkInput>& inputs,
                           const std::vector<std::string>& options) const {
    LinkOutput output;
    if (!complete_) {
        output.code = kNvJitLinkAbsent;
        return output;
    }
    std::vector<const char*> words;
    for (const std::string& option : options)
        words.push_back(option.c_str());
    Handle handle = nullptr;
    // 13.0 leaves a handle with the log behind where it refuses the options.
    output.code = create_(&handle, static_cast<std::uint32_t>(words.size()), words.data());
    if (output.code == 0) output.code = add_all(handle, inputs);
    if (handle == nullptr) return output;
    if (output.code != 0) {
        static_cast<void>(fetch(handle, log_size_, log_, output.log));
        output.log = output.log.substr(0, output.log.find('\0'));
    } else {
        output.code = fetch(handle, cubin_size_, cubin_, output.cubin);
    }
    destroy_(&handle);
    return output;
}

}  // namespace cudamatrix::suite
