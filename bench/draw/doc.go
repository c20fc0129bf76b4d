// Package draw draws the results of mkbench for people.
package draw
