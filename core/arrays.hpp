// What both modules need to take arrays from Python and to give them back.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "poll.hpp"

namespace labelcut {

template <typename T>
using Vector = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename T>
using Matrix = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
template <typename T>
using Filled = nanobind::ndarray<T, nanobind::c_contig, nanobind::device::cpu>;  // written by the core

// Runs on the calling thread: takes the interpreter back, lets Ctrl-C through, reports progress.
inline Poll as_poll(const nanobind::callable& on_settled) {
  return [&on_settled](std::int64_t n_settled) {
    nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    on_settled(n_settled);
  };
}

}  // namespace labelcut
