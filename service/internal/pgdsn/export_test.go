package pgdsn

// Check is the check that settings make.
var Check = check
