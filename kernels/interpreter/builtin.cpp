#include "kernels/interpreter/builtin.hpp"

#include <algorithm>
#include <cstdio>

#include "kernels/interpreter/access.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/launch.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::size_t kLongestString = 4096;  // of a string on the device

/// Reads through generic addresses.
std::uint64_t read(Warp& warp, int lane, std::uint64_t address, unsigned size) {
    Instruction generic;
    const Place place = locate(warp, generic, lane, address, size);
    if (place.written != nullptr) check_written(warp, lane, place, address, size);
    return load_value(place.bytes, size);
}

std::string read_text(Warp& warp, int lane, std::uint64_t address) {
    std::string text;
    while (text.size() < kLongestString) {
        const auto c = static_cast<char>(read(warp, lane, address + text.size(), 1));
        if (c == '\0') break;
        text += c;
    }
    return text;
}

std::uint64_t argument(Warp& warp, const List& list, std::size_t index, int lane) {
    const Frame& frame = warp.frame();
    const auto number =
        static_cast<std::size_t>(list.items[2 + static_cast<std::size_t>(list.items[1]) + index]);
    const Variable& variable = frame.function->variables[number];
    std::uint64_t value = 0;
    const std::size_t at = static_cast<std::size_t>(lane) * frame.function->param_size + variable.offset;
    std::memcpy(&value, frame.params.data() + at, std::min<std::size_t>(variable.size, sizeof value));
    return value;
}

/// One conversion of printf: "%5.2f" with its argument. What C would not print the same way is a fault.
std::string converted(Warp& warp, int lane, const std::string& format, std::uint64_t& at) {
    char text[512];
    const char kind = format.back();
    const bool wide = format.find('l') != std::string::npos || kind == 'p' || kind == 's' ||
                      format.find('z') != std::string::npos ||
                      std::string("aAeEfFgG").find(kind) != std::string::npos;
    const unsigned size = wide ? 8 : 4;
    at = (at + size - 1) / size * size;
    const std::uint64_t bits = read(warp, lane, at, size);
    at += size;
    std::string flags;
    for (const char c : format) {
        if (c != 'l' && c != 'h' && c != 'z' && c != 'j' && c != 't' && c != kind) flags += c;
    }
    switch (kind) {
        case 'd':
        case 'i':
            std::snprintf(text, sizeof text, (flags + "lld").c_str(),
                          wide ? static_cast<long long>(bits)
                               : static_cast<long long>(static_cast<std::int32_t>(bits)));
            return text;
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            std::snprintf(text, sizeof text, (flags + "ll" + kind).c_str(),
                          static_cast<unsigned long long>(bits));
            return text;
        case 'c':
            return {static_cast<char>(bits)};
        case 's':
            return read_text(warp, lane, bits);
        case 'p':
            return hex_address(bits);
        default: {
            double value = 0;
            std::memcpy(&value, &bits, sizeof value);
            std::snprintf(text, sizeof text, (flags + kind).c_str(), value);
            return text;
        }
    }
}

std::string formatted(Warp& warp, int lane, const std::string& format, std::uint64_t at) {
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            text += format[i];
            continue;
        }
        if (i + 1 < format.size() && format[i + 1] == '%') {
            text += format[i++];
            continue;
        }
        const std::size_t end = format.find_first_not_of("0123456789.-+ #lhzjt", i + 1);
        if (end == std::string::npos || end - i > 20 ||
            std::string("diuxXocspaAeEfFgG").find(format[end]) == std::string::npos)
            warp.fault(FaultCode::launch_failure, lane, "printf: unknown conversion in \"" + format + "\"");
        text += converted(warp, lane, format.substr(i, end - i + 1), at);
        i = end;
    }
    return text;
}

void set_result(Warp& warp, const List& list, int lane, std::uint32_t value) {
    Frame& frame = warp.frame();
    const Variable& variable = frame.function->variables[static_cast<std::size_t>(list.items[2])];
    const std::size_t at = static_cast<std::size_t>(lane) * frame.function->param_size + variable.offset;
    std::memcpy(frame.params.data() + at, &value, sizeof value);
    std::memset(frame.params_written.data() + at, 1, sizeof value);
}

}  // namespace

void call_builtin(Warp& warp, const Function& callee, const List& list, Mask lanes) {
    const int first = __builtin_ctz(lanes);
    if (callee.name == "vprintf" && callee.parameters.size() == 2 && callee.results.size() == 1) {
        each(lanes, [&](int l) {
            const std::string format = read_text(warp, l, argument(warp, list, 0, l));
            const std::uint64_t values = argument(warp, list, 1, l);
            warp.launch().print(formatted(warp, l, format, values));
            set_result(warp, list, l, 1);
        });
        return;
    }
    if (callee.name == "__assertfail" && callee.parameters.size() == 5) {
        const std::string file = read_text(warp, first, argument(warp, list, 1, first));
        const std::string line = std::to_string(argument(warp, list, 2, first) & 0xffffffff);
        const std::string function = read_text(warp, first, argument(warp, list, 3, first));
        warp.fault(FaultCode::assertion, first,
                   file + ":" + line + ": " + function + ": Assertion `" +
                       read_text(warp, first, argument(warp, list, 0, first)) + "` failed");
    }
    warp.fault(FaultCode::illegal_instruction, first,
               "not supported by the interpreter: the function " + callee.name + " is not defined");
}

}  // namespace cudamatrix::suite::ptx
